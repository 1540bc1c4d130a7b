import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { tempDir, watchProcess } from "@steps/testkit";
import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import { expect, test } from "vitest";

const POD = resolve(import.meta.dirname, "../../../node_modules/.bin/pod");

test.skipIf(!hasPostgres)(
  "serve ends with an error when its database goes away at any moment of its start",
  { timeout: 240_000 },
  async () => {
    const server = await startPostgres();
    let failures = 0;
    for (const bytes of [1, 100, 400, 1000, 3000, 10_000, 14_000, 15_000, 16_000, 17_000]) {
      const dir = tempDir();
      const close = await startRelay(join(dir, ".s.PGSQL.5432"), join(server.dir, ".s.PGSQL.5432"), bytes);
      const url = server.createDatabase().replace(/host=.*/, `host=${encodeURIComponent(dir)}`);
      const pod = watchProcess(
        spawn(POD, ["serve", "--port", "0", "--state-dir", join(dir, "state"), "--database", url]),
      );
      await Promise.race([pod.printed("is listening"), pod.ended]).catch(() => undefined);
      pod.child.kill("SIGTERM");
      const { code, stderr } = await pod.ended;
      if (!stderr.includes("is listening")) {
        failures++;
        expect(stderr).toContain("The database does not answer");
        expect(code).toBe(1);
      }
      close();
    }
    await server.remove();
    expect(failures).toBeGreaterThan(3);
  },
);

/** A relay that is there until it has passed so many bytes to the server, and then is gone. */
async function startRelay(path: string, target: string, bytes: number): Promise<() => void> {
  const open = new Set<Socket>();
  let left = bytes;
  const close = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) open.add(socket.on("error", close).on("close", () => near.destroy()));
    far.on("data", (chunk) => near.write(chunk));
    near.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) far.write(chunk);
      else close();
    });
  });
  await once(server.listen(path), "listening");
  return close;
}
