import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { reflection, reflectionAlpha } from "@steps/proto/service";
import type { DescriptorFiles } from "./descriptor-files.ts";

type Request = reflection.ServerReflectionRequest | reflectionAlpha.ServerReflectionRequest;
// Both versions have the same fields.
type Response = Omit<MessageInitShape<typeof reflection.ServerReflectionResponseSchema>, "$typeName"> &
  Omit<MessageInitShape<typeof reflectionAlpha.ServerReflectionResponseSchema>, "$typeName">;
type Answer = NonNullable<Response["messageResponse"]>;

/** `grpc.reflection.v1` and `v1alpha`, so that tools find out what is spoken here. `files` is called by the first request. */
export function reflectionService(
  files: () => DescriptorFiles,
): Required<
  Pick<ServiceImpl<typeof reflection.ServerReflection>, "serverReflectionInfo"> &
    Pick<ServiceImpl<typeof reflectionAlpha.ServerReflection>, "serverReflectionInfo">
> {
  return {
    async *serverReflectionInfo(requests: AsyncIterable<Request>) {
      for await (const request of requests) {
        const { host } = request;
        const originalRequest = { host, messageRequest: originalOf(request) };
        yield { validHost: host, originalRequest, messageResponse: answer(request, files()) } as Response;
      }
    },
  };
}

function originalOf({ messageRequest }: Request): unknown {
  if (messageRequest.case !== "fileContainingExtension") return messageRequest;
  const { containingType, extensionNumber } = messageRequest.value;
  return { case: messageRequest.case, value: { containingType, extensionNumber } };
}

function answer({ messageRequest: asked }: Request, files: DescriptorFiles): Answer {
  switch (asked.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: files.services.map((name) => ({ name })) },
      };
    case "fileByFilename":
      return found(files.fileByName(asked.value), `There is no file "${asked.value}"`);
    case "fileContainingSymbol":
      return found(files.fileContaining(asked.value), `There is no symbol "${asked.value}"`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const text = `There is no extension ${extensionNumber} of "${containingType}"`;
      return found(files.fileOfExtension(containingType, extensionNumber), text);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = files.extensionNumbers(asked.value);
      if (extensionNumber === undefined) return failed(Code.NotFound, `There is no message "${asked.value}"`);
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: asked.value, extensionNumber },
      };
    }
    default:
      return failed(Code.InvalidArgument, "The request asks for nothing");
  }
}

function found(fileDescriptorProto: Uint8Array[] | undefined, orElse: string): Answer {
  if (fileDescriptorProto === undefined) return failed(Code.NotFound, orElse);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function failed(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
