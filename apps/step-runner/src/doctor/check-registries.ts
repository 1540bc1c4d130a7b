import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { lookForProgram } from "@steps/platform/processes";
import type { Finding } from "./finding.ts";

/** Says for which registries of images there are credentials, and whether their helpers are there. Asks no registry. */
export function checkRegistries(): Finding {
  const path = join(process.env["DOCKER_CONFIG"] ?? join(process.env["HOME"] ?? homedir(), ".docker"), "config.json");
  const given = process.env["DOCKER_AUTH_CONFIG"];
  const from = given === undefined || given === "" ? path : "DOCKER_AUTH_CONFIG";
  if (from === path && !existsSync(path))
    return {
      name: "registries",
      state: "ok",
      found: `no ${path}`,
      meaning: "Images of public registries can be fetched.",
    };
  const config = readConfig(from === path ? readFileSync(path, "utf8") : (given ?? ""));
  if (config === undefined)
    return {
      name: "registries",
      state: "problem",
      found: `${from} is no JSON object`,
      meaning: "Images that need a login cannot be fetched.",
    };
  const hosts = [...new Set([...Object.keys(config.auths ?? {}), ...Object.keys(config.credHelpers ?? {})])];
  const helpers = [...Object.values(config.credHelpers ?? {}), config.credsStore].filter(
    (one) => typeof one === "string",
  );
  const missing = [...new Set(helpers)].map((one) => `docker-credential-${one}`).filter((name) => !isThere(name));
  if (missing.length > 0)
    return {
      name: "registries",
      state: "problem",
      found: `${from} names ${missing.join(", ")}, which is not on the PATH`,
      meaning: "Images of its registries cannot be fetched.",
    };
  const found = hosts.length === 0 ? `${from} names none` : `${from}: ${hosts.join(", ")}`;
  return { name: "registries", state: "ok", found, meaning: "Images of these registries are fetched with a login." };
}

interface DockerConfig {
  readonly auths?: object;
  readonly credHelpers?: Readonly<Record<string, unknown>>;
  readonly credsStore?: unknown;
}

function readConfig(text: string): DockerConfig | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isThere(name: string): boolean {
  return lookForProgram(name, { path: process.env["PATH"], workDir: process.cwd() })?.isExecutable === true;
}
