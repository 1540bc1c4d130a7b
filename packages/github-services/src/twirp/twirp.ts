import { parseJsonObject, readBody } from "../http/body.ts";
import type { HttpContext, Route } from "../http/context.ts";
import { HttpError } from "../http/http-error.ts";
import { sendBytes, sendJson } from "../http/send.ts";
import { messageFromBinary, messageToBinary } from "./binary-message.ts";
import { messageFromJson, messageToJson } from "./json-message.ts";
import type { Message, MessageType } from "./message.ts";

/** One remote procedure: its messages, and who answers. */
export interface TwirpMethod {
  readonly request: MessageType;
  readonly response: MessageType;
  readonly handle: (request: Message) => Promise<Message>;
}

/** Routes of a service, `/twirp/<service>/<method>`, in JSON and in protobuf: the answer comes as the question did. */
export function twirpRoutes(service: string, methods: Readonly<Record<string, TwirpMethod>>): readonly Route[] {
  return Object.entries(methods).map(([name, method]) => ({
    method: "POST",
    path: new RegExp(`^/twirp/${service.replaceAll(".", "\\.")}/${name}$`),
    handle: async (context) => await call(method, context),
  }));
}

async function call(method: TwirpMethod, { request, response, limits }: HttpContext): Promise<void> {
  const [type = ""] = (request.headers["content-type"] ?? "").toLowerCase().split(";");
  const body = await readBody(request, limits.maxJsonBytes);
  if (type.trim() === "application/json") {
    const message = messageFromJson(method.request, parseJsonObject(body.toString("utf8")));
    sendJson(response, 200, messageToJson(method.response, await method.handle(message)));
  } else if (type.trim() === "application/protobuf") {
    const answer = messageToBinary(method.response, await method.handle(messageFromBinary(method.request, body)));
    sendBytes(response, 200, { type: "application/protobuf", body: answer });
  } else {
    throw new HttpError(404, "bad_route", "The Content-Type is neither application/json nor application/protobuf");
  }
}
