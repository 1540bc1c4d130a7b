import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { compileCache, createGitRepository, type GitHttpServer, startGitHttpServer, tempDir } from "@steps/testkit";
import { decodeTrace } from "@steps/trace";
import { onTestFinished } from "vitest";

/** The built command, as users have it; STEP_RUNNER_TEST_COMMAND names another build. */
const COMMAND: string =
  process.env["STEP_RUNNER_TEST_COMMAND"] ?? resolve(import.meta.dirname, "../../../node_modules/.bin/step-runner");
const SOURCES: string = join(import.meta.dirname, "toolkit-actions");

export type Trace = Awaited<ReturnType<typeof decodeTrace>>;
export type TraceStep = NonNullable<Trace["root"]>;

/** How the entries of an action are bundled. */
export interface KitBundles {
  /** Each entry alone, to `FOLDER/dist/NAME.js`, by folder. The folder's own package.json says what they are. */
  readonly cjs?: Readonly<Record<string, readonly string[]>>;
  /** All entries at once, to `dist/NAME.js` and what they share beside it. The repository's package.json says what they are. */
  readonly esm?: readonly string[];
}

/** A repository of real actions on a real server. */
export interface Kit {
  readonly server: GitHttpServer;
  readonly commit: string;
  readonly close: () => Promise<void>;
}

/** A user of that repository with a project of their own. */
export interface KitUser {
  readonly dir: string;
  readonly workspace: string;
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a list of steps with `ci`. */
  readonly ci: (steps: readonly object[], options?: RunOptions) => Promise<Ended>;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ended>;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The trace as it is written. */
  readonly text: string;
  readonly trace: () => Promise<Trace>;
  /** Returns the outputs of the step of that name. All outputs of an action are text. */
  readonly outputs: (name: string) => Promise<Record<string, string>>;
}

/** Bundles the actions and serves them, as `acme/kit@v1`. */
export async function startKit(manifests: Readonly<Record<string, string>>, bundles: KitBundles): Promise<Kit> {
  const root = tempDir();
  const files: Record<string, string> = { "package.json": '{"type": "module"}\n' };
  for (const [folder, manifest] of Object.entries(manifests)) files[join(folder, "action.yml")] = manifest;
  for (const [folder, names] of Object.entries(bundles.cjs ?? {})) {
    files[`${folder}/package.json`] = '{"type": "commonjs"}\n';
    for (const name of names) Object.assign(files, await bundle([name], { format: "cjs", folder }));
  }
  if (bundles.esm !== undefined) Object.assign(files, await bundle(bundles.esm, { format: "esm", folder: "" }));
  const repository = await createGitRepository(join(root, "acme/kit"), files);
  const commit = await repository.tag("v1");
  const server = await startGitHttpServer(root);
  return { server, commit, close: () => server.close() };
}

async function bundle(
  names: readonly string[],
  { format, folder }: { readonly format: "cjs" | "esm"; readonly folder: string },
): Promise<Record<string, string>> {
  const { output } = await build({
    input: Object.fromEntries(names.map((name) => [name, join(SOURCES, `${name}.ts`)])),
    platform: "node",
    logLevel: "silent",
    write: false,
    output: { format, minify: true, entryFileNames: "[name].js", chunkFileNames: "shared-[hash].js" },
  });
  return Object.fromEntries(
    output.flatMap((file) => (file.type === "chunk" ? [[join(folder, "dist", file.fileName), file.code]] : [])),
  );
}

/**
 * A new user, whose actions come from the kit and nowhere else. All paths hold what a shell would take apart, unless they are to
 * be plain: @actions/cache itself takes blanks for the ends of arguments.
 */
export function createKitUser(kit: Kit, options: { readonly hasPlainPaths?: boolean } = {}): KitUser {
  const dir = tempDir(options.hasPlainPaths === true ? "steps-kit-" : "steps kit's $é-");
  const workspace = join(dir, options.hasPlainPaths === true ? "builds/project" : "builds/a project");
  for (const path of [workspace, join(dir, "home")]) mkdirSync(path, { recursive: true });
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: join(dir, "home"),
    TMPDIR: dir,
    STEP_RUNNER_ACTION_SOURCE: kit.server.url,
    STEP_RUNNER_STATE_DIR: join(dir, "state"),
    STEP_RUNNER_CACHE_DIR: join(dir, "cache"),
    ...compileCache(),
  };
  let count = 0;
  const run: KitUser["run"] = async (args, options = {}) => {
    const traceFile = join(dir, `trace-${count++}.json`);
    const all = [...args, "--output-file", traceFile, ...(options.args ?? [])];
    const ended = await start(all, { ...env, ...options.env }, workspace);
    const trace = async (): Promise<Trace> => decodeTrace(readFileSync(traceFile, "utf8"));
    return {
      ...ended,
      get text() {
        return readFileSync(traceFile, "utf8");
      },
      trace,
      outputs: async (name) => {
        const det = (await stepOf(trace(), name)).det ?? {};
        return Object.fromEntries(
          Object.entries(det.outputs ?? {}).map(([key, val]) => [
            key,
            "value" in val ? (val.value as string) : "[redacted]",
          ]),
        );
      },
    };
  };
  const ci: KitUser["ci"] = (steps, options = {}) =>
    run(["ci"], { ...options, env: { STEPS: JSON.stringify(steps), CI_PROJECT_DIR: workspace, ...options.env } });
  return { dir, workspace, cacheDir: env.STEP_RUNNER_CACHE_DIR, env, ci, run };
}

/** Sees to it that a run ended with this code; says what it printed otherwise. @throws {Error} */
export function assertEnded({ code, stdout, stderr }: Ended, wanted: number): void {
  if (code !== wanted) throw new Error(`It ended with ${code}:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`);
}

/** The first record of that name, anywhere in the tree. @throws {Error} */
export async function stepOf(trace: Promise<Trace>, name: string): Promise<TraceStep> {
  const { root } = await trace;
  const waiting = root === undefined ? [] : [root];
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    if (step.name === name) return step;
    waiting.push(...(step.children ?? []));
  }
  throw new Error(`There is no step "${name}"`);
}

function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Pick<Ended, "code" | "stdout" | "stderr">> {
  const child = spawn(COMMAND, [...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  }
  return new Promise((fulfil, reject) => {
    child.on("error", reject);
    child.on("close", (code) => fulfil({ code, ...texts }));
  });
}
