import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Validator, violationsToProto } from "@bufbuild/protovalidate";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ERROR_HEADER, wireText } from "./connect-error.ts";

const MAX_VIOLATIONS = 20;

const patterns = new Map<string, RegExp>();

// The patterns are our own and mean the same to JavaScript. The library's engine takes ten seconds for a text of 60 MiB.
function regexMatch(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) patterns.set(pattern, (compiled = new RegExp(pattern, "u")));
  return compiled.test(text);
}

interface Library {
  readonly validator: Validator;
  readonly violationsToProto: typeof violationsToProto;
}

let library: Library | undefined;

/**
 * Holds requests to the rules in their schema (`buf.validate`). A violation is INVALID_ARGUMENT: its message names the
 * field, its detail is `buf.validate.Violations`.
 */
export function validateRequests(): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) {
      await checkRequest(request.method.input, request.message);
      return next(request);
    }
    return next({ ...request, message: checked(request.method.input, request.message) });
  };
}

async function* checked<T extends MessageShape<DescMessage>>(
  schema: DescMessage,
  messages: AsyncIterable<T>,
): AsyncIterable<T> {
  for await (const message of messages) {
    await checkRequest(schema, message);
    yield message;
  }
}

/** @throws {ConnectError} INVALID_ARGUMENT for a message that breaks the rules of its schema */
export async function checkRequest(schema: DescMessage, message: MessageShape<DescMessage>): Promise<void> {
  // A service that nobody calls does not hold the library in memory.
  if (library === undefined) {
    const module = await import("@bufbuild/protovalidate");
    library = { validator: module.createValidator({ regexMatch }), violationsToProto: module.violationsToProto };
  }
  const result = library.validator.validate(schema, message);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw result.error;
  const violations = result.violations.slice(0, MAX_VIOLATIONS);
  const [value, desc] = library.violationsToProto(violations);
  throw new ConnectError(
    wireText(violations.map(String).join("; ")),
    Code.InvalidArgument,
    { [ERROR_HEADER]: "REQUEST_INVALID" },
    [{ desc, value }],
  );
}
