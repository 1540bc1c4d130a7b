import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { type Command, defineCommand } from "../command.ts";
import * as flag from "../flag-kinds.ts";
import { parseWithSettings } from "../parse-command-line.ts";
import { configFlags, settingsOfConfig, settingsOfKey } from "./config-file.ts";

const flags = {
  ...configFlags("APP_CONFIG"),
  port: flag.integer({ summary: "x", default: "1", max: 65_535, env: "APP_PORT" }),
  "state-dir": flag.path({ summary: "x", env: "APP_STATE_DIR" }),
  mirror: flag.pairs({ summary: "x" }),
  allow: flag.list({ summary: "x", env: "APP_ALLOW" }),
  "drain-timeout": flag.duration({ summary: "x", default: "0s" }),
  strict: flag.boolean({ summary: "x" }),
  token: flag.text({ summary: "x" }),
};

function commandWith(settings: NonNullable<Command["settings"]>): Command<typeof flags> {
  return defineCommand({
    name: "serve",
    summary: "x",
    usage: "",
    flags,
    positionals: { min: 0, max: 0 },
    examples: [],
    settings,
    run: () => Promise.resolve(0),
  });
}

function write(name: string, text: string): string {
  const path = join(tempDir(), name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test("a flag wins over its variable, which wins over the file, which wins over the default", async () => {
  const file = write(
    "app.yml",
    "port: 2\ndrain-timeout: 30s\nstate-dir: state\nallow: [a, b c]\nmirror: {x: y=z}\nstrict: true\n",
  );
  const command = commandWith(settingsOfConfig);
  const read = async (args: string[], env: Record<string, string> = {}) =>
    (await parseWithSettings(command, args, env)).options;
  expect(await read([])).toMatchObject({ port: 1, drainTimeout: 0, strict: false });
  expect(await read(["--config", file])).toMatchObject({
    port: 2,
    drainTimeout: 30_000,
    stateDir: join(file, "../state"),
    allow: ["a", "b c"],
    mirror: { x: "y=z" },
    strict: true,
  });
  expect(await read([], { APP_CONFIG: file, APP_PORT: "3", APP_ALLOW: "d" })).toMatchObject({ port: 3, allow: ["d"] });
  expect(await read(["--port", "4", "--no-strict"], { APP_CONFIG: file, APP_PORT: "3" })).toMatchObject({
    port: 4,
    strict: false,
  });
});

test("a file of JSON is read as one of YAML", async () => {
  const file = write("app.json", '{"port": 2, "allow": ["a"]}');
  const { options } = await parseWithSettings(commandWith(settingsOfConfig), ["--config", file], {});
  expect(options).toMatchObject({ port: 2, allow: ["a"] });
});

test.each([
  ["prot: 2", "1:1", 'There is no flag "prot"\n  hint: Did you mean port?'],
  ["port: 1\nmirorr: {a: b}", "2:1", 'There is no flag "mirorr"\n  hint: Did you mean mirror?'],
  ["zzzzzz: 1", "1:1", 'There is no flag "zzzzzz"\n  hint: Keys are the names of flags, without dashes.'],
  ["config: other.yml", "1:1", 'There is no flag "config"'],
  ["port: 70000", "1:7", "--port is "],
  ["port: [1, 2]", "1:7", '"port" cannot be a list'],
  ["drain-timeout:", "1:15", '"drain-timeout" cannot be nothing'],
  ["strict: perhaps", "1:9", "--strict"],
  ["- port", "1:1", "A mapping is expected, this is a list"],
  ["port: 1\n---\nport: 2", "3:1", "There is more than one document"],
  ["port: 1\nport: 2", "2:1", ""],
])("the mistake in %j is told with its place", async (text, place, message) => {
  const file = write("app.yml", `${text}\n`);
  const reading = parseWithSettings(commandWith(settingsOfConfig), ["--config", file], {});
  await expect(reading).rejects.toThrow(`${file}:${place}: ${message}`);
});

test.each([
  ["{token: hunter2, prot: 1}", 'There is no flag "prot"'],
  ["{token: hunter2, port: [1]}", '"port" cannot be a list'],
  ["{token: hunter2, port: 1", "Flow map must end with a }"],
])("the mistake in %j is told without its line, which may hold a secret", async (text, message) => {
  const file = write("app.yml", text);
  const reading = parseWithSettings(commandWith(settingsOfConfig), ["--config", file], {});
  const said = await reading.then(String, String);
  expect(said).toContain(message);
  expect(said).not.toContain("hunter2");
});

test("the name of an unknown flag is shown in part if it is very long", async () => {
  const file = write("app.yml", `${"x".repeat(5000)}: 1\n`);
  const reading = parseWithSettings(commandWith(settingsOfConfig), ["--config", file], {});
  expect((await reading.then(String, String)).length).toBeLessThan(500);
});

test("a file that is named has to be there", async () => {
  const reading = parseWithSettings(commandWith(settingsOfConfig), ["--config", "/nowhere/app.yml"], {});
  await expect(reading).rejects.toMatchObject({ code: "ENOENT" });
});

test("in a file that says more, the flags stand under the name of the command", async () => {
  const command = commandWith(settingsOfKey("serve", () => "/nowhere/default.yml"));
  const read = async (text: string) => {
    const { options } = await parseWithSettings(command, ["--config", write("pods.yml", text)], {});
    return options;
  };
  expect(await read("pods: [{prot: 1}]\nserve: {port: 2}\n")).toMatchObject({ port: 2 });
  expect(await read("pods: []\n")).toMatchObject({ port: 1 });
  // Whoever reads the rest of the file says what is wrong with its text.
  expect(await read("pods: [\n")).toMatchObject({ port: 1 });
  await expect(read("pods: []\nserve:\n  prot: 2\n")).rejects.toThrow('pods.yml:3:3: There is no flag "prot"');
  expect((await parseWithSettings(command, [], {})).options).toMatchObject({ port: 1 });
});
