import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { toolsOf } from "./tools.ts";

vi.mock("node:fs", { spy: true });

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function toolIn(dir: string): { readonly path: string; digest(): string | undefined } {
  const path = join(dir, "tool");
  return { path, digest: () => toolsOf(path, { path: undefined, workDir: dir })[0]?.digest["sha256"] };
}

test("a program that changes twice between two times of the file system is told as it is each time", () => {
  const dir = mkdtempSync(join(tmpdir(), "executor-tools-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const tool = toolIn(dir);
  writeFileSync(tool.path, "one", { mode: 0o755 });
  // A clock that does not go on, and no machine is so slow that the change is long ago.
  const first = statSync(tool.path, { bigint: true });
  first.ctimeNs += 3_600_000_000_000n;
  vi.mocked(statSync).mockImplementation(() => first as unknown as Stats);
  onTestFinished(() => vi.mocked(statSync).mockRestore());
  expect(tool.digest()).toBe(digestOf("one"));
  writeFileSync(tool.path, "two");
  expect(tool.digest()).toBe(digestOf("two"));
});
