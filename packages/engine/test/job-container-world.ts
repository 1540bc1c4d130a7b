import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { compileWorkflowJob } from "@steps/github-compiler";
import { hasProgram, tempDir } from "@steps/testkit";
import { createEngine, type RunResult } from "../src/index.ts";

const exec = promisify(execFile);

/** Whether there is a daemon and something to make an image of. */
export const hasContainers: boolean = hasProgram("docker") && existsSync("/bin/busybox");

/** Runs the `docker` command, and gives its output without the last line end. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await exec("docker", args);
  return stdout.trimEnd();
}

/** An image with nothing but a static busybox, imported under a name of its own. */
export async function importBusybox(): Promise<string> {
  const folder = tempDir();
  for (const dir of ["bin", "tmp"]) mkdirSync(join(folder, dir));
  copyFileSync("/bin/busybox", join(folder, "bin/busybox"));
  const applets = "sh cat sleep httpd wget mkdir touch false ps grep setsid".split(" ");
  for (const applet of applets) symlinkSync("busybox", join(folder, "bin", applet));
  const image = `steps-job-${randomBytes(6).toString("hex")}:test`;
  const script = 'tar c -C "$1" . | docker import --change "ENV FROM_IMAGE=yes" - "$2"';
  await exec("sh", ["-c", script, "sh", folder, image]);
  return image;
}

/** A job of a workflow that ran. */
export interface RanJob {
  readonly result: RunResult;
  readonly output: string;
  readonly notes: readonly string[];
}

/** Runs a job, written in YAML; `container: IMAGE` and the like get the image. */
export async function runJob(
  text: string,
  options: {
    readonly files?: Readonly<Record<string, string>>;
    readonly dir?: string;
    readonly signal?: AbortSignal;
    readonly graceMs?: number;
    readonly onOutput?: (output: string) => void;
  } = {},
): Promise<RanJob> {
  const dir = options.dir ?? tempDir();
  const workDir = join(dir, "work");
  mkdirSync(workDir, { recursive: true });
  for (const [name, content] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(workDir, name)), { recursive: true });
    writeFileSync(join(workDir, name), content);
  }
  const workflow = `on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n${text.replaceAll(/^(?=.)/gm, "    ")}`;
  const { specDefinition, positionOf, diagnostics } = compileWorkflowJob({ name: "ci.yml", text: workflow });
  if (specDefinition === undefined) throw new Error(JSON.stringify(diagnostics));
  await using engine = createEngine({
    runner: { name: "test", version: "1" },
    cacheDir: join(dir, "cache"),
    stateDir: join(dir, "state"),
    env: { PATH: process.env["PATH"], HOME: dir },
  });
  let output = "";
  const notes: string[] = [];
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: dir, OF_THE_HOST: "1" };
  const place = { workDir, baseDir: workDir };
  const { graceMs } = options;
  const result = await engine.run(
    {
      job: { entry: "local", source: "ci.yml", specDefinition, positionOf, inputs: {}, vars: {}, env, ...place },
      graceMs,
    },
    {
      onOutput: (_stream, chunk) => {
        output += Buffer.from(chunk).toString();
        options.onOutput?.(output);
      },
      onEvent: (event) => {
        if (event.type === "note") notes.push(event.message);
      },
    },
    options.signal ?? new AbortController().signal,
  );
  return { result, output, notes };
}

/** The containers and networks that are left of jobs with an image. */
export async function leftOf(image: string, result: RunResult): Promise<string> {
  const id = result.trace().traceId ?? "";
  const containers = await docker("ps", "--all", "--quiet", `--filter=ancestor=${image}`);
  return `${containers}${await docker("network", "ls", "--quiet", `--filter=name=${id}`)}`;
}
