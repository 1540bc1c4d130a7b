import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { openWorld, readAll } from "./harness.ts";

test("tokens are masked after the prefixes that the caller names, and after those of GitLab", async () => {
  const { ours } = await openWorld();
  const ciScript = "echo acme-Ab0 glpat-Ab0; echo a.c[x-Ab0 abc[x-Ab0 >&2";
  await ours.run({ id: "a", ciScript, tokenMaskPrefixes: ["acme-", "a.c[x-"] });
  expect(await readAll(ours, "a")).toEqual({
    stdout: "acme-[MASKED] glpat-[MASKED]\n",
    stderr: "a.c[x-[MASKED] abc[x-Ab0\n",
  });
  const parts: Buffer[] = [];
  for await (const { data } of ours.getTrace({ id: "a" })) parts.push(Buffer.from(data));
  const trace = Buffer.concat(parts).toString();
  expect(trace).toContain("acme-[MASKED]");
  expect(trace).not.toContain("acme-Ab0");
});

test.each([
  ["an empty one", [""]],
  ["one of more than 64 characters", ["x".repeat(65)]],
  ["one with a line feed", ["a\n"]],
  ["one that is not ASCII", ["é-"]],
  ["sixteen", Array.from({ length: 16 }, (_, n) => `acme${n}-`)],
])("prefixes of tokens with %s are refused", async (_what, tokenMaskPrefixes) => {
  const { ours } = await openWorld();
  await expect(ours.run({ id: "a", ciScript: "true", tokenMaskPrefixes })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining("token_mask_prefixes must be 15 at most") as string,
  });
});
