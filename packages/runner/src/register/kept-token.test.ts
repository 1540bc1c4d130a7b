import { expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import type { RunnerConfig } from "../config/runner-config.ts";
import { KeptToken } from "./kept-token.ts";

test("a new token that could not be written down counts, and is written with the next look", async () => {
  const text = `runners: [{name: n, id: 7, url: "https://x", token: glrt-old, executor: host,
    token_obtained_at: "2020-01-01T00:00:00Z", token_expires_at: "2020-01-02T00:00:00Z"}]`;
  const [config] = readConfig(text, "runners.yml").runners as [RunnerConfig];
  const asked: string[] = [];
  const saved: string[] = [];
  let isFull = true;
  const kept = new KeptToken(config, {
    api: {
      resetToken(token) {
        asked.push(token);
        const reset = { token: "glrt-new", token_expires_at: "2999-01-01T00:00:00Z" };
        return Promise.resolve({ status: 201, headers: {}, message: undefined, wasPutOff: false, reset });
      },
    },
    save(before, after) {
      if (isFull) throw new Error("no space");
      saved.push(before.token, after.token);
    },
  });
  await expect(kept.look()).rejects.toThrow("no space");
  expect(kept.config.token).toBe("glrt-new");
  isFull = false;
  expect(await kept.look()).toBe(true);
  expect(await kept.look()).toBe(false);
  expect([asked, saved]).toEqual([["glrt-old"], ["glrt-old", "glrt-new"]]);
});
