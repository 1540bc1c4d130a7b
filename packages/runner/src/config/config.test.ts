import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { rotationTime } from "../register/rotate-token.ts";
import { loadConfig, saveConfig, systemIdOf } from "./config-file.ts";
import { NO_RUNNERS, readConfig } from "./read-config.ts";

const RUNNER = "url: https://x\n    token: glrt-secret\n    executor: host";

test("a configuration is written for its owner alone, and read back", () => {
  const dir = tempDir();
  const file = join(dir, "config", "runners.yml");
  expect(loadConfig(file)).toEqual(NO_RUNNERS);
  const config = readConfig(
    `concurrent: 3\nstart: {log-format: json, drain-timeout: 30s}\nrunners:\n  - name: a\n    ${RUNNER}\n    environment: {A: 1}\n`,
    file,
  );
  saveConfig(file, config);
  expect(loadConfig(file)).toEqual(config);
  expect([statSync(file).mode & 0o777, statSync(join(dir, "config")).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(file, "utf8")).not.toContain("docker");
});

test("a configuration that cannot be written leaves no copy with the tokens behind", () => {
  const dir = tempDir();
  const file = join(dir, "runners.yml");
  mkdirSync(join(file, "inside"), { recursive: true });
  const config = readConfig(`runners:\n  - name: a\n    ${RUNNER}\n`, file);
  expect(() => saveConfig(file, config)).toThrow(expect.objectContaining({ code: "CONFIG_IO" }));
  expect(readdirSync(dir)).toEqual(["runners.yml"]);
});

test("a mistake is named by its place, and no value is quoted", () => {
  const read = (text: string) => () => readConfig(text, "f.yml");
  expect(read(`runners:\n  - ${RUNNER}\n    limits: 3`)).toThrow("runners[0].limits is no setting");
  expect(read("runners:\n  - url: https://x")).toThrow("runners[0].");
  expect(read(`concurrent: 0`)).toThrow("concurrent must be a number, 1 or more");
  expect(read(`runners:\n  - ${RUNNER.replace("host", "glrt-secret")}`)).toThrow(
    /^(?!.*secret).*executor must be one of/u,
  );
  expect(read("a: [")).toThrow("it is no YAML");
  expect(read(`runners:\n  - ${RUNNER.replace("host", "ssh")}`)).toThrow("ssh.host is missing");
});

test("the system id is made once", () => {
  const dir = tempDir();
  const file = join(dir, "runners.yml");
  const id = systemIdOf(file);
  expect(id).toMatch(/^r_[0-9A-Za-z]{12}$/u);
  expect(systemIdOf(file)).toBe(id);
  writeFileSync(join(dir, ".runner_system_id"), "broken");
  expect(systemIdOf(file)).toMatch(/^r_[0-9A-Za-z]{12}$/u);
});

test("a token is exchanged after three quarters of its life", () => {
  const [runner] = readConfig(`runners:\n  - ${RUNNER}\n`, "f").runners;
  const of = (from: string, to?: string): number | undefined =>
    rotationTime({ ...(runner as NonNullable<typeof runner>), token_obtained_at: from, token_expires_at: to });
  expect(of("2026-01-01T00:00:00Z")).toBeUndefined();
  expect(of("2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z")).toBe(Date.parse("2026-01-04T00:00:00Z"));
  expect(of("", "2026-01-05T00:00:00Z")).toBe(0);
});
