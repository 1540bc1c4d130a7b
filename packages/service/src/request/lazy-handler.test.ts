import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { lazyHandler } from "./lazy-handler.ts";
import { end } from "./request-handler.ts";

test("a handler that cannot be made is tried again by the next request, and one that was made is kept", async () => {
  const log: string[] = [];
  let attempts = 0;
  const handle = lazyHandler(
    async () => {
      await Promise.resolve();
      attempts += 1;
      if (attempts === 1) throw new Error("too many open files");
      return (request, reply) => end(request, reply, { status: 200, headers: {}, body: "hi" });
    },
    (_, message, facts) => log.push(`${message}: ${String(facts?.["reason"])}`),
  );
  const server = createServer(handle).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await expect(fetch(url)).rejects.toThrow();
  expect(log).toEqual(["The service cannot answer: too many open files"]);
  for (let round = 0; round < 2; round++) expect(await (await fetch(url)).text()).toBe("hi");
  expect(attempts).toBe(2);
});
