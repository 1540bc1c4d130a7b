import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { resolve } from "node:path";
import { tempDir, watchProcess } from "@steps/testkit";
import { expect, test } from "vitest";

const POD = resolve(import.meta.dirname, "../../../node_modules/.bin/pod");

test("serve ends with an error when its database breaks off while it starts", { timeout: 120_000 }, async () => {
  const database = createServer((socket) => socket.once("data", () => socket.destroy())).listen(0, "127.0.0.1");
  await once(database, "listening");
  const url = `postgres://pod@127.0.0.1:${(database.address() as AddressInfo).port}/pod`;
  const args = ["serve", "--port", "0", "--state-dir", tempDir(), "--database", url];
  const { code, stderr } = await watchProcess(spawn(POD, args)).ended;
  database.close();
  expect(code).not.toBe(0);
  expect(stderr).toContain("The database does not answer");
});
