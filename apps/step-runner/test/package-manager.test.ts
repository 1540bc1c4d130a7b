import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { leavePackageManager } from "../src/environment/user-environment.ts";
import { COMMAND, createWorld, type World } from "./harness.ts";

/** A project that has the command and a Node of its own among its packages, as that of a user who installed us. */
function installed(world: World): void {
  const bin = join(world.work, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(COMMAND, join(bin, "step-runner"));
  writeFileSync(join(bin, "node"), "#!/bin/sh\necho ours\n", { mode: 0o755 });
  writeFileSync(join(world.work, "package.json"), '{"name": "project", "private": true}\n');
  const node = join(world.dir, "usr", "bin");
  mkdirSync(node, { recursive: true });
  symlinkSync(process.execPath, join(node, "node"));
  for (const name of ["npm", "npx", "pnpm"])
    writeFileSync(join(node, name), `#!/bin/sh\nexec '${programPath(name)}' "$@"\n`, { mode: 0o755 });
}

/** The path of a program; the tests themselves may be started by a package manager that puts folders into PATH. */
function programPath(name: string): string {
  const found = (process.env["PATH"] ?? "").split(":").map((dir) => join(dir, name));
  return found.find((path) => existsSync(path)) ?? name;
}

describe("a job of a command that a package manager started", () => {
  test.each([
    ["npm", ["exec", "--no", "--", "step-runner"]],
    ["npx", ["--no", "--", "step-runner"]],
    ["pnpm", ["exec", "step-runner"]],
  ])("finds the programs of its user: %s", (program, args) => {
    const world = createWorld();
    installed(world);
    const path = `${join(world.dir, "usr", "bin")}:/usr/local/bin:/usr/bin:/bin`;
    const script = 'command -v node; echo "$PATH"; env | sed "s/=.*//" | grep -E "^(npm_|NODE$|INIT_CWD)" || echo none';
    const definition = {
      type: "exec",
      exec: { command: ["sh", "-c", script] },
      inherit_env: ["npm_*", "NODE", "INIT_CWD"],
    };
    const steps = JSON.stringify(definition);
    const { stdout, stderr, status } = spawnSync(program, [...args, "run", "--quiet", "--json", steps], {
      cwd: world.work,
      encoding: "utf8",
      env: { ...world.env, PATH: path },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [node, inner = "", variables] = stdout.trimEnd().split("\n");
    expect(node).toBe(join(world.dir, "usr", "bin", "node"));
    expect(inner).toBe(`${join(world.stateDir, "bin")}:${path}`);
    expect(variables).toBe("none");
  });
});

describe("leavePackageManager()", () => {
  test("leaves an environment alone that no package manager made", () => {
    const env = { PATH: "/project/node_modules/.bin:/usr/bin", NODE: "/usr/bin/node", INIT_CWD: "/x" };
    const before = { ...env };
    leavePackageManager(env);
    expect(env).toEqual(before);
  });

  test("keeps what stands behind or between the folders of package managers", () => {
    const path = [
      "/a/b/node_modules/.bin",
      "/a/node_modules/.bin",
      "/npm/lib/node-gyp-bin",
      "/tools",
      "/c/node_modules/.bin",
      "/npm/lib/node-gyp-bin",
      "/home/me/node_modules/.bin",
      "/usr/bin",
    ].join(":");
    const env: Record<string, string> = {
      PATH: path,
      npm_execpath: "/npm.js",
      npm_config_registry: "https://mine",
      NODE: "/mine",
    };
    leavePackageManager(env);
    expect(env).toEqual({
      PATH: "/tools:/home/me/node_modules/.bin:/usr/bin",
      npm_config_registry: "https://mine",
      NODE: "/mine",
    });
  });

  test("takes only the first folders where there is none for node-gyp", () => {
    const env = {
      PATH: "./node_modules/.bin:/a/node_modules/.bin:/usr/bin:/x/node_modules/.bin",
      npm_config_user_agent: "pnpm/12",
    };
    leavePackageManager(env);
    expect(env).toEqual({ PATH: "/usr/bin:/x/node_modules/.bin" });
  });
});
