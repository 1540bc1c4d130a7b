import { spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { isFullSize } from "@steps/testkit";
import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserUses } from "./browser-uses.ts";
import { bundleForBrowser, runAsInBrowser } from "./bundle-for-browser.ts";
import { uses } from "./uses.ts";
import { readExamples } from "./read-examples.ts";
import {
  closureOf,
  filesBelow,
  findLibraries,
  findPublished,
  leftovers,
  missingOutputs,
  type Published,
  readManifest,
  root,
} from "./workspace.ts";

const bin = join(root, "node_modules", ".bin");
const node = existsSync(join(bin, "node")) ? join(bin, "node") : process.execPath;
const isAllRequired = process.env["STEPS_REQUIRE_ALL"] === "1";
const published = findPublished();
const libraries = findLibraries();
const apps = published.filter(({ manifest }) => manifest.bin !== undefined);
const folder = mkdtempSync(join(tmpdir(), "steps-smoke-"));
/** The folders for the archives that `pnpm pack` and, at full size, `npm pack` make of the same packages. */
const tarballs = { pnpm: join(folder, "pnpm"), npm: join(folder, "npm") } as const;
type Packer = keyof typeof tarballs;
const consumer = join(folder, "consumer");
/** Has the compiler, and what it depends on. */
const alone = join(folder, "alone");
const compilerOnly = closureOf("@steps/compiler", published);

function tarballOf(name: string, version: string, packer: Packer = "pnpm"): string {
  return join(tarballs[packer], `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with as little of this process's environment as it needs: no conditions, no settings of a running npm. */
function run(
  program: string,
  args: readonly string[],
  { cwd = folder, env = {}, timeoutMs = 60_000 } = {},
): Promise<Ended> {
  const passed =
    /^(?:HOME|TMPDIR|LANG|npm_config_(?:registry|cache|userconfig)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => passed.test(name)));
  const PATH = [bin, process.env["PATH"] ?? ""].join(delimiter);
  const child = spawn(program, args, {
    cwd,
    env: { ...inherited, PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => (output[name] += chunk));
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

async function succeed(
  program: string,
  args: readonly string[],
  options: Parameters<typeof run>[2] = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

async function buildProblems(): Promise<readonly string[]> {
  const problems = libraries.flatMap(({ dir }) => missingOutputs(dir).map((path) => `${path} is missing: build first`));
  // In a tree one works in, an earlier build may have left some; what is released is built in a clean one.
  const left = isAllRequired ? libraries.flatMap(({ dir }) => leftovers(dir)) : [];
  problems.push(...left.map((path) => `${path} has no source: remove test`));
  // The set-up compares contents, where tsc takes a file of the configuration that was touched or copied for a change.
  const { code } = await run(node, [join(root, "scripts", "setup.mjs"), "--check"], { cwd: root });
  if (code !== 0) problems.push("the sources are not those of the last build: run node scripts/setup.mjs");
  return problems;
}

async function bundleProblems(): Promise<readonly string[]> {
  const fresh = join(folder, "bundle");
  const env = { ...process.env, STEPS_BUNDLE_DIR: fresh };
  await succeed(join(bin, "rolldown"), ["-c", "rolldown.config.mjs"], { cwd: root, env });
  return apps.flatMap(({ dir }) => {
    const read = (from: string): readonly string[] =>
      filesBelow(from, ".cjs").map((path) => `${path} ${readFileSync(join(from, path), "utf8")}`);
    const isSame = read(join(fresh, basename(dir), "dist")).join("\0") === read(join(dir, "dist")).join("\0");
    return isSame ? [] : [`${join(dir, "dist")} is not what its sources give: build first`];
  });
}

const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;

// A registry that stops answering in the middle is not what is tested here.
async function runNpm(args: readonly string[], cwd: string): ReturnType<typeof run> {
  const once = () => run("npm", [...args], { cwd, timeoutMs: 120_000 });
  const attempts = isAllRequired ? 3 : 1;
  let ended = await once();
  for (let attempt = 1; ended.code === null && attempt < attempts; attempt++) ended = await once();
  return ended;
}

/** Installs the archives by npm at full size, which takes most of a minute; else lays them out as npm would. */
async function install(target: string, packages: readonly Published[], packer: Packer): Promise<void> {
  mkdirSync(target);
  writeFileSync(join(target, "package.json"), '{ "private": true, "type": "module" }\n');
  if (!isFullSize) return layOut(target, packages, packer);
  const files = packages.map(({ name, manifest }) => tarballOf(name, manifest.version, packer));
  const retries = `--fetch-retries=${isAllRequired ? 2 : 0}`;
  const flags = [
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error",
    "--fetch-timeout=15000",
    retries,
  ];
  const args = ["install", ...flags, "--prefix", target, ...files];
  const { code, stdout, stderr } = await runNpm(args, target);
  if (code === 0) return;
  const isUnreachable = code === null || UNREACHABLE.test(stderr);
  if (isAllRequired || !isUnreachable) throw new Error(`npm ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  // Without a network the tests still run, on what npm would have laid out; a run that requires all does not accept it.
  const skipped = process.env["STEPS_SKIPPED_FILE"];
  if (skipped !== undefined) appendFileSync(skipped, "npm install of the packed packages (no network)\n");
  await layOut(target, packages, packer);
}

/** Unpacks the archives as `npm install` does, with the workspace's copies of third-party packages. */
async function layOut(target: string, packages: readonly Published[], packer: Packer): Promise<void> {
  const modules = join(target, "node_modules");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const { name, dir, manifest } of packages) {
    mkdirSync(join(modules, name), { recursive: true });
    await succeed("tar", [
      "-xzf",
      tarballOf(name, manifest.version, packer),
      "--strip-components=1",
      "-C",
      join(modules, name),
    ]);
    for (const [command, path] of Object.entries(manifest.bin ?? {})) {
      chmodSync(join(modules, name, path), 0o755);
      symlinkSync(join(modules, name, path), join(modules, ".bin", command));
    }
    for (const dependency of Object.keys(readManifest(join(modules, name)).dependencies ?? {})) {
      const link = join(modules, dependency);
      if (dependency.startsWith("@steps/") || existsSync(link)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(realpathSync(join(dir, "node_modules", dependency)), link);
    }
  }
}

beforeAll(async () => {
  const problems = [...(await buildProblems()), ...(await bundleProblems())];
  if (problems.length > 0) throw new Error(`The packages are not built:\n${problems.join("\n")}`);
  for (const dir of Object.values(tarballs)) mkdirSync(dir);
  const filters = published.map(({ name }) => `--filter=${name}`);
  const all = ["--recursive", ...filters, "pack", "--pack-destination", tarballs.pnpm];
  await succeed(join(bin, "pnpm"), all, { cwd: root, timeoutMs: 240_000 });
  if (isFullSize) {
    const folders = published.map(({ dir }) => `./${relative(root, dir)}`);
    const args = ["pack", "--loglevel=error", "--pack-destination", tarballs.npm, ...folders];
    await succeed("npm", args, { cwd: root, timeoutMs: 240_000 });
  }
  await install(consumer, published, isFullSize ? "npm" : "pnpm");
  await install(alone, compilerOnly, "pnpm");
}, 900_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe.each(published)("$name", ({ name, dir, manifest }) => {
  const installed = join(consumer, "node_modules", name);

  test("is packed with what a user needs and no more", () => {
    const files = filesBelow(installed, "");
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(files.filter((path) => /\.test\.|tsconfig|turbo\.json|\.tsbuildinfo|^test(?:\/|$)/.test(path))).toEqual([]);
  });

  test("is as it was before it was packed", () => {
    expect(readManifest(dir)).toEqual(manifest);
  });

  if (isFullSize) {
    test("is the same whether npm or pnpm packs it", async () => {
      const contents = async (packer: Packer): Promise<{ files: string[]; dependencies: unknown }> => {
        const tarball = tarballOf(name, manifest.version, packer);
        const files = (await succeed("tar", ["-tzf", tarball])).trim().split("\n").toSorted();
        const text = await succeed("tar", ["-xzOf", tarball, "package/package.json"]);
        const { dependencies = {} } = JSON.parse(text) as { readonly dependencies?: unknown };
        return { files, dependencies };
      };
      expect(await contents("npm")).toEqual(await contents("pnpm"));
    });
  }

  test("depends on published packages by plain versions", () => {
    const packed = readManifest(installed);
    expect(JSON.stringify(packed)).not.toMatch(/"(?:workspace|catalog|link|file):/);
    // A command is a bundle, which PGlite alone is no part of.
    const needed = Object.keys(manifest.dependencies ?? {}).filter((one) => !manifest.bin || one.includes("pglite"));
    expect(Object.keys(packed.dependencies ?? {}).toSorted()).toEqual(needed.toSorted());
    const own = Object.keys(packed.dependencies ?? {}).filter((dependency) => dependency.startsWith("@steps/"));
    expect(published.map((other) => other.name)).toEqual(expect.arrayContaining(own));
  });

  test("passes publint", async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarballOf(name, manifest.version));
    const tarball = (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([]);
  });
});

describe.each(libraries)("$name", ({ name, dir }) => {
  test("is imported without its sources and exports what they promise", async () => {
    const promised = (await import(pathToFileURL(join(dir, "src", "index.ts")).href)) as object;
    const code = `import * as entry from ${JSON.stringify(name)};
      console.log(JSON.stringify({ names: Object.keys(entry), url: import.meta.resolve(${JSON.stringify(name)}) }));`;
    const shown = await succeed(node, ["--input-type=module", "--eval", code], { cwd: consumer });
    const { names, url } = JSON.parse(shown) as { names: readonly string[]; url: string };
    expect(url).toMatch(/\/dist\/index\.js$/);
    expect(names.toSorted()).toEqual(Object.keys(promised).toSorted());
  });
});

describe("the installed packages", () => {
  test.each(uses)("do what $name is for", async ({ code, output }) => {
    expect((await succeed(node, ["--input-type=module", "--eval", code], { cwd: consumer })).trim()).toBe(output);
  });

  test("give a strict user of TypeScript their types", async () => {
    const imports = libraries.map(
      ({ name }, i) => `import * as entry${i} from ${JSON.stringify(name)};\nvoid entry${i};\n`,
    );
    writeFileSync(join(consumer, "consumer.ts"), imports.join(""));
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2023",
      // Connect speaks of Headers as a browser does.
      lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
    };
    writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    expect(await run(join(bin, "tsc"), ["-p", "."], { cwd: consumer })).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("in a browser", () => {
  test.each(browserUses)("$name needs nothing of Node, in none of its parts", async ({ name }) => {
    const { warnings, imports } = await bundleForBrowser(
      consumer,
      `whole-${basename(name)}`,
      `export * from "${name}";`,
    );
    expect([warnings, imports]).toEqual([[], []]);
  });

  test.each(browserUses)("$name works and stays small", async ({ name, code, result, maxGzipBytes }) => {
    const bundle = await bundleForBrowser(consumer, `use-${basename(name)}`, code);
    expect(runAsInBrowser(bundle)).toEqual(result);
    expect(bundle.gzipBytes).toBeLessThanOrEqual(maxGzipBytes ?? Infinity);
  });
});

describe("the guide of the compiler", () => {
  const examples = readExamples(readFileSync(join(root, "docs", "guide", "compiler.md"), "utf8"));

  test("has examples with what they print", () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
    const [first] = examples;
    expect(first?.code.split("\n").length).toBeLessThanOrEqual(10);
  });

  test("is about a folder with nothing but the compiler and what it depends on", () => {
    const found = readdirSync(join(alone, "node_modules", "@steps")).map((name) => `@steps/${name}`);
    expect(found.toSorted()).toEqual(compilerOnly.map(({ name }) => name).toSorted());
    expect(found).not.toContain("@steps/engine");
  });

  // The folder may be read, since modules are files; nothing may be written, and no program started.
  test.each(examples.map(({ code, output }, i) => [i + 1, code, output] as const))(
    "does in example %i what it says, without I/O",
    async (number, code, output) => {
      const file = join(alone, `example-${number}.mjs`);
      writeFileSync(file, code);
      const permission = [
        "--permission",
        `--allow-fs-read=${realpathSync(root)}`,
        `--allow-fs-read=${realpathSync(alone)}`,
      ];
      const flags = Number(process.versions.node.split(".")[0]) >= 24 ? permission : [];
      expect((await succeed(node, [...flags, file], { cwd: alone })).trimEnd()).toBe(output.trimEnd());
    },
  );
});

describe.each(apps)("the command of $name", ({ manifest }) => {
  const command = join(consumer, "node_modules", ".bin", Object.keys(manifest.bin ?? {})[0] ?? "");

  test("says its version", async () => {
    expect((await succeed(command, ["--version"], { cwd: consumer })).trim()).toContain(manifest.version);
  });
});

describe("the commands", () => {
  const binOf = (name: string): string => join(consumer, "node_modules", ".bin", name);
  const steps = JSON.stringify([{ name: "greet", script: 'echo "hello ${{ vars.CI_WHO }}"' }]);
  const homeEnv = () => ({
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    XDG_STATE_HOME: join(folder, "state"),
  });

  test("run a job", async () => {
    const work = join(folder, "work");
    mkdirSync(work);
    const env = { ...homeEnv(), STEPS: steps, CI_WHO: "world" };
    expect(await succeed(binOf("step-runner"), ["ci"], { cwd: work, env })).toContain("hello world");
  });

  test.each(hasPostgres ? ["its own database", "PostgreSQL"] : ["its own database"])(
    "run a pod with %s",
    async (kind) => {
      const server = kind === "PostgreSQL" ? await startPostgres() : undefined;
      const PATH = [bin, process.env["PATH"] ?? ""].join(delimiter);
      const env = { PATH, ...homeEnv(), POD_STATE_DIR: join(folder, kind) };
      const args = ["serve", "--port=0", ...(server === undefined ? [] : [`--database=${server.createDatabase()}`])];
      const pod = spawn(binOf("pod"), args, { env, cwd: folder, stdio: "pipe" });
      const ended = new Promise((resolve) => pod.once("close", resolve));
      try {
        for await (const chunk of pod.stderr) if (String(chunk).includes("is listening")) break;
        expect(await succeed(binOf("pod"), ["create-runner", "--tag", "linux"], { env })).toContain("glrt-");
      } finally {
        pod.kill();
        expect(await ended).toBe(0);
        await server?.remove();
      }
    },
    240_000,
  );

  test("run a job as a service and its bridge", async () => {
    const socket = join(folder, "run", "s.sock");
    const file = join(folder, "steps.yml");
    writeFileSync(file, steps);
    const env = { PATH: process.env["PATH"] ?? "", ...homeEnv() };
    const service = spawn(binOf("step-runner"), ["serve", "--socket", socket], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      for await (const chunk of service.stderr) if (String(chunk).includes("is listening")) break;
      const args = ["run", "--socket", socket, "--variable", "CI_WHO=bridge", file];
      expect(await succeed(binOf("runner-bridge"), args, { cwd: folder, env })).toBe("hello bridge\n");
    } finally {
      service.kill();
    }
  });
});
