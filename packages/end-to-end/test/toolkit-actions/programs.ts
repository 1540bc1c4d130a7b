import * as core from "@actions/core";
import * as exec from "@actions/exec";
import * as io from "@actions/io";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Programs with listeners, and files, by `@actions/exec` and `@actions/io`.
const lines: string[] = [];
const errors: string[] = [];
const raw: Buffer[] = [];
const listeners = {
  stdline: (line: string) => lines.push(line),
  errline: (line: string) => errors.push(line),
  stdout: (chunk: Buffer) => raw.push(chunk),
};
const script = 'echo "one ü"; echo wrong >&2; printf "%s|" "$@" "$EXTRA"; cat';
const code = await exec.exec("bash", ["-c", script, "bash", "a b", "*", ""], {
  listeners,
  env: { ...(process.env as Record<string, string>), EXTRA: "given" },
  input: Buffer.from("from input\n"),
  cwd: process.env["RUNNER_TEMP"] ?? "",
});
const quiet = await exec.getExecOutput('bash -c "pwd; exit 3"', [], { ignoreReturnCode: true, silent: true });
const failed = await exec.exec("false").catch((error: unknown) => (error as Error).message);
const missing = await exec.exec("no-such-program-here").catch((error: unknown) => (error as Error).message);

const dir = mkdtempSync(join(process.env["RUNNER_TEMP"] ?? "", "io-"));
await io.mkdirP(join(dir, "from/deep"));
writeFileSync(join(dir, "from/deep/file"), "kept");
await io.cp(join(dir, "from"), join(dir, "to"), { recursive: true });
await io.mv(join(dir, "to"), join(dir, "moved"));
await io.rmRF(join(dir, "from"));
core.setOutput("report", {
  code,
  lines,
  errors,
  raw: Buffer.concat(raw).toString(),
  quiet: { ...quiet, stdout: quiet.stdout.trim() === process.env["GITHUB_WORKSPACE"] },
  failed,
  missing,
  moved: readFileSync(join(dir, "moved/deep/file"), "utf8"),
  which: (await io.which("bash", true)).endsWith("/bash"),
  // It is in a folder that the step before has put on the PATH.
  own: (await exec.getExecOutput("from-step-before")).stdout.trim(),
});
