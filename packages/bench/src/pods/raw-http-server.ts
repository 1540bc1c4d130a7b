// The floor of pods and routers: node:http alone. It takes a body to its end and answers with a text as long as a job's payload;
// below /bytes/N it sends N bytes.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CHUNK = Buffer.alloc(64 * 1024);
const answer = Buffer.from(JSON.stringify({ payload: "x".repeat(2048) }));

async function sendBytes(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { "content-length": String(count) });
  for (let left = count; left > 0; left -= CHUNK.length) {
    if (!response.write(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK))
      await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end();
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const count = /^\/bytes\/(\d+)$/.exec(request.url ?? "")?.[1];
  if (count !== undefined) return void sendBytes(response, Number(count));
  request.resume().on("end", () => {
    response.writeHead(201, { "content-type": "application/json", "content-length": String(answer.length) });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stderr.write(`is listening at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
