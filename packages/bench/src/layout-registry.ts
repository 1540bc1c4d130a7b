import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** A registry of one image that lies in a folder in the OCI layout; it answers what a client of a digest asks. */
export async function serveLayout(dir: string): Promise<{ readonly host: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const [, hex] = /\/(?:manifests|blobs)\/sha256:([0-9a-f]{64})$/.exec(request.url ?? "") ?? [];
    const path = join(dir, "blobs/sha256", hex ?? "none");
    if (!existsSync(path)) {
      response.writeHead(request.url === "/v2/" ? 200 : 404).end();
      return;
    }
    const body = readFileSync(path);
    const isManifest = request.url?.includes("/manifests/") === true;
    const type = isManifest
      ? (JSON.parse(body.toString()) as { mediaType: string }).mediaType
      : "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(request.method === "HEAD" ? undefined : body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
