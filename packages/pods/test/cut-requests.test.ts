import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { receiveFile } from "../src/artifacts/receive-file.ts";
import { Exchange } from "../src/http/exchange.ts";

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n";
const FORM = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nbytes\r\n--B--\r\n';

/** A request that has sent some of a form, and whose connection is gone before anybody has read that. */
async function cutRequest(sent: string): Promise<readonly [IncomingMessage, ServerResponse]> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(`${HEAD}Content-Length: ${FORM.length}\r\n\r\n${sent}`);
  const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  const closed = new Promise((resolve) => request.on("error", () => {}).once("close", resolve));
  socket.resetAndDestroy();
  await closed;
  return [request, response];
}

describe.each([
  ["half of it", FORM.slice(0, -20)],
  ["all of it", FORM],
])("a request that was cut off before it was read, with %s", (_, sent) => {
  test("is no upload", async () => {
    const [request] = await cutRequest(sent);
    const written: Buffer[] = [];
    const writer = { write: async (bytes: Buffer) => void written.push(bytes) };
    await expect(receiveFile(request, writer, 1000)).rejects.toMatchObject({ status: 400 });
    expect(written).toEqual([]);
  });

  test("has no body that anybody waits for", async () => {
    const [request, response] = await cutRequest(sent);
    await expect(new Exchange(request, response).body(1000)).rejects.toMatchObject({ status: 400 });
  });
});
