import { describe, expect, test } from "vitest";
import { ARGV_VARIABLE, readStart } from "./start.ts";

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

function start(args: readonly string[], options: { main?: string; env?: Record<string, string> } = {}) {
  const env: Record<string, string | undefined> = { ...options.env };
  const argv = ["/usr/bin/node", options.main ?? "/usr/lib/steps/dist/main.cjs", ...args];
  return { ...readStart({ execPath: "/usr/bin/node", argv, env }), env };
}

/** As a launcher starts us. */
function launched(args: readonly string[], env: Record<string, string> = {}) {
  const left: Record<string, string | undefined> = { ...env };
  const argv = ["/v/.x-runtime-1/ld.so", "/v/.x-runtime-1/app/main.cjs", ...args];
  return { ...readStart({ execPath: "/v/.x-runtime-1/ld.so", argv, env: left }), env: left, argv };
}

describe("the name we answer to", () => {
  test.each([
    ["/bin/step-runner", "step-runner"],
    ["/bin/gitlab-runner-helper", "gitlab-runner-helper"],
    ["/bin/gitlab-runner", "gitlab-runner"],
    ["/x/dist/main.cjs", "step-runner"],
    ["/x/gitlab-runner-helper.js", "step-runner"],
  ])("as %s is %s", (main, name) => {
    expect(start([], { main }).name).toBe(name);
  });

  test.each([
    ["/v/gitlab-runner-helper", "./gitlab-runner-helper", "gitlab-runner-helper"],
    ["/v/gitlab-runner-helper", "/state/bin/step-runner", "step-runner"],
    ["/v/step-runner", "gitlab-runner", "gitlab-runner"],
    ["/v/gitlab-runner-helper", "some-link", "gitlab-runner-helper"],
    ["/v/gitlab-runner-helper", "", "gitlab-runner-helper"],
    ["/v/some-file", "some-file", "step-runner"],
  ])("started by %s as %s is %s", (launcher, calledAs, name) => {
    expect(launched([launcher, calledAs, "x"])).toMatchObject({ name, args: ["x"], launcher });
  });
});

describe("a packed executable", () => {
  const main = "/$bunfs/root/step-runner";

  test.each([
    ["/usr/bin/step-runner", "step-runner"],
    ["gitlab-runner-helper", "gitlab-runner-helper"],
    ["./sr-linux-x64", "step-runner"],
  ])("called as %s is %s", (calledAs, name) => {
    const argv = ["bun", main, "x"];
    expect(readStart({ execPath: "/usr/bin/sr", argv, env: {}, packed: { calledAs } })).toEqual({ name, args: ["x"] });
  });

  test("started by a launcher takes away what that adds", () => {
    const argv = ["bun", main, "/v/gitlab-runner-helper", "step-runner", "x"];
    const execPath = "/v/.x-runtime-1/ld.so";
    expect(readStart({ execPath, argv, env: { "%D_A": "1" }, packed: { calledAs: "/v/x" } })).toEqual({
      name: "step-runner",
      args: ["x"],
      launcher: "/v/gitlab-runner-helper",
      runtimeDir: "/v/.x-runtime-1",
    });
  });
});

describe("what a launcher adds", () => {
  test("is taken away", () => {
    const { args, argv, runtimeDir } = launched(["/v/x", "x", "run", "--", "a"]);
    expect(args).toEqual(["run", "--", "a"]);
    expect(argv.slice(2)).toEqual(["run", "--", "a"]);
    expect(runtimeDir).toBe("/v/.x-runtime-1");
  });

  test("is its path alone where it was called without a name", () => {
    expect(launched(["/v/x"])).toMatchObject({ args: [], launcher: "/v/x" });
  });

  test("is looked for only where Node runs from a runtime", () => {
    const main = "/v/.x-runtime-1/app/main.cjs";
    expect(start(["/v/x", "x"], { main }).args).toEqual(["/v/x", "x"]);
    expect(start(["/v/x", "x"], { main, env: { "%D_A": "1" } }).env).toEqual({ "%D_A": "1" });
  });

  test("leaves the variables as they were", () => {
    const { env } = launched(["/v/x", "x"], {
      "%D_PRELOAD": "a", "%ODE_OPTIONS": "b", "%PENSSL_CONF": "c", "%UN_OPTIONS": "f", A: "d", "%OTHER": "e",
    }); // oxfmt-ignore
    expect(env).toEqual({
      LD_PRELOAD: "a",
      NODE_OPTIONS: "b",
      OPENSSL_CONF: "c",
      BUN_OPTIONS: "f",
      A: "d",
      "%OTHER": "e",
    });
  });
});

describe("arguments in the environment", () => {
  const argv = ["steps", "serve", "sh", "-c", "é\n"];

  test("are taken where there are no others", () => {
    const env = { [ARGV_VARIABLE]: encoded(argv) };
    expect(start([], { env })).toMatchObject({ args: argv, env: {} });
    expect(launched(["/v/x", "x"], env)).toMatchObject({ args: argv, env: {} });
  });

  test("are dropped where there are others", () => {
    expect(start(["run"], { env: { [ARGV_VARIABLE]: encoded(argv) } })).toMatchObject({ args: ["run"], env: {} });
    const broken = start(["run"], { env: { [ARGV_VARIABLE]: "?" } });
    expect(broken).toMatchObject({ args: ["run"], env: {} });
    expect(broken.error).toBeUndefined();
  });

  test.each([
    ["no base64", "%%%"],
    ["no JSON", Buffer.from("[").toString("base64")],
    ["an object", encoded({ a: 1 })],
    ["a number among them", encoded(["a", 1])],
    ["a text", encoded("steps serve")],
    ["blanks", " "],
  ])("that are %s are an error", (_, text) => {
    const { error, args, env } = start([], { env: { [ARGV_VARIABLE]: text } });
    expect(error).toContain(ARGV_VARIABLE);
    expect([args, env]).toEqual([[], {}]);
  });

  test("that are empty are none", () => {
    for (const text of ["", encoded([])]) {
      const { error, args } = start([], { env: { [ARGV_VARIABLE]: text } });
      expect([error, args]).toEqual([undefined, []]);
    }
  });
});
