import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isStepsError, messageOf } from "@steps/model";
import { makePrivateFolder } from "@steps/platform";
import { SYSTEM_ID_PATTERN } from "@steps/runner-api";
import { stringify } from "yaml";
import { RunnerError } from "../runner-error.ts";
import { NO_RUNNERS, readConfig } from "./read-config.ts";
import type { RunnersConfig } from "./runner-config.ts";

/** The configuration in a file; without the file there are no runners. @throws {RunnerError} CONFIG_INVALID, CONFIG_IO */
export function loadConfig(file: string): RunnersConfig {
  try {
    return readConfig(readFileSync(file, "utf8"), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return NO_RUNNERS;
    throw isStepsError(error) ? error : ioError(file, error);
  }
}

/** Writes the configuration in place of the file, as a whole, for the user alone. @throws {RunnerError} CONFIG_IO */
export function saveConfig(file: string, config: RunnersConfig): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    makePrivateFolder(dirname(file));
    writeFileSync(draft, stringify(withoutDefaults(config), { lineWidth: 0 }), { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw ioError(file, error);
  }
}

/**
 * The id of this machine for its runners, `r_` and 12 random letters: made by the first who asks, in the file
 * `.runner_system_id` beside the configuration. @throws {RunnerError} CONFIG_IO
 */
export function systemIdOf(file: string): string {
  const path = join(dirname(file), ".runner_system_id");
  try {
    const known = readFileSync(path, "utf8").trim();
    if (SYSTEM_ID_PATTERN.test(known)) return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw ioError(path, error);
  }
  const id = `r_${randomLetters(12)}`;
  try {
    makePrivateFolder(dirname(path));
    writeFileSync(path, `${id}\n`, { mode: 0o600 });
  } catch (error) {
    throw ioError(path, error);
  }
  return id;
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]).join("");
}

// The user's later settings are easier to see in a file that says nothing else.
function withoutDefaults({ runners, ...config }: RunnersConfig): object {
  return { ...prune(config), runners: runners.map((runner) => prune({ ...runner, ...sectionOf(runner) })) };
}

function sectionOf({ executor, docker, kubernetes, ssh }: RunnersConfig["runners"][number]): object {
  return {
    docker: executor === "docker" ? docker : undefined,
    kubernetes: executor === "kubernetes" ? prune(kubernetes) : undefined,
    ssh: executor === "ssh" ? prune(ssh) : undefined,
  };
}

function prune(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function ioError(path: string, cause: unknown): RunnerError {
  return new RunnerError("CONFIG_IO", `Cannot use "${path}": ${messageOf(cause)}`, { cause });
}
