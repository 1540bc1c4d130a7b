import { afterEach, expect, test, vi } from "vitest";
import { errors } from "../terminal.ts";
import { openLog } from "./open-log.ts";

afterEach(() => vi.restoreAllMocks());

function linesOf(options: Parameters<typeof openLog>[0], tell: (log: ReturnType<typeof openLog>) => void): string[] {
  const lines: string[] = [];
  vi.spyOn(errors, "writeLines").mockImplementation((line) => void lines.push(line));
  tell(openLog(options));
  return lines;
}

test("a line for people has the level unless it is the usual one, and facts that cannot be taken for others", () => {
  const lines = linesOf({ logFormat: "text", logLevel: "info" }, (log) => {
    log("debug", "Not wanted");
    log("info", "Job started", { job: "build-42", attempt: 2, error: undefined });
    log("warning", "Job refused", { job: 'a b="c"\nd\u001B[2J', code: "" });
  });
  expect(lines).toEqual([
    "step-runner: Job started job=build-42 attempt=2\n",
    String.raw`step-runner: warning: Job refused job="a b=\"c\"\nd\u001b[2J" code=""` + "\n",
  ]);
});

test("a line of JSON has the time, the level, the message and the facts", () => {
  const [line = "", ...rest] = linesOf({ logFormat: "json", logLevel: "warning" }, (log) => {
    log("info", "Not wanted");
    log("error", "It failed", { job: "a\nb" });
  });
  expect(rest).toEqual([]);
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    level: "error",
    message: "It failed",
    job: "a\nb",
  });
});

test("a reader who stopped reading does not make the log grow, and is told what was lost", async () => {
  const lines: string[] = [];
  const reader = Promise.withResolvers<void>();
  vi.spyOn(errors, "writeLines").mockImplementation((line) => {
    lines.push(line);
    return lines.length <= 10_000 ? reader.promise : undefined;
  });
  const log = openLog({ logFormat: "text", logLevel: "info" });
  for (let at = 0; at < 10_007; at += 1) log("info", "Job started", { job: at });
  expect(lines).toHaveLength(10_000);
  reader.resolve();
  await expect.poll(() => lines).toHaveLength(10_001);
  expect(lines.at(-1)).toBe(
    "step-runner: warning: Lines of this log were lost, because they could not be written lines=7\n",
  );
});

test("a full disk ends nothing that writes to the log, and the count of lost lines is told when there is room", async () => {
  const lines: string[] = [];
  const behind = Promise.withResolvers<void>();
  let isFull = true;
  vi.spyOn(errors, "writeLines").mockImplementation((line) => {
    if (isFull) throw new Error("ENOSPC: no space left on device, write");
    lines.push(line);
    return line.includes("job=3") ? behind.promise : undefined;
  });
  const log = openLog({ logFormat: "text", logLevel: "info" });
  for (const job of [1, 2]) log("info", "Job started", { job });
  isFull = false;
  log("info", "Job started", { job: 3 });
  const told = "step-runner: warning: Lines of this log were lost, because they could not be written";
  expect(lines).toEqual([`${told} lines=2\n`, "step-runner: Job started job=3\n"]);
  behind.reject(new Error("ENOSPC: no space left on device, write"));
  await expect.poll(() => lines.slice(2)).toEqual([`${told} lines=1\n`]);
});
