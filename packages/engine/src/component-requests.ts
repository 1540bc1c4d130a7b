import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ComponentRequest } from "@steps/cache";
import type { LoadFrom } from "@steps/executor";
import { type EnvironmentRecord, mapObject, type OciReference, revealString, type ZipReference } from "@steps/model";
import { assertInside } from "./find-step-file.ts";

/** Returns the request to the cache for an image. */
export function ociRequest(reference: OciReference, stepEnv: EnvironmentRecord): ComponentRequest {
  const { registry, repository, tag } = reference;
  // The environment holds the credentials, and the variables that a credential helper needs.
  return { kind: "oci", registry, repository, tag, env: mapObject(stepEnv, revealString) };
}

const REGISTRY_VARIABLES = [
  "DOCKER_AUTH_CONFIG",
  "CI_REGISTRY",
  "CI_REGISTRY_USER",
  "CI_REGISTRY_PASSWORD",
  "CI_SERVER_HOST",
];

/** Job variables are no environment, but GitLab puts the credentials of registries there for who fetches. */
export function registryVariables(vars: EnvironmentRecord = {}): EnvironmentRecord {
  return Object.fromEntries(
    REGISTRY_VARIABLES.flatMap((name) => (vars[name] === undefined ? [] : [[name, vars[name]]])),
  );
}

/** Returns the request to the cache for an archive. @throws {EngineError} REFERENCE_INVALID */
export function zipRequest(reference: ZipReference, from: LoadFrom): ComponentRequest {
  const isHttp = /^https?:/i.test(reference.url);
  const path = /^file:/i.test(reference.url) ? fileURLToPath(reference.url) : reference.url;
  const url = isHttp ? reference.url : resolve(from.dir, path);
  if (!isHttp && from.root !== undefined && !isAbsolute(path) && existsSync(url)) assertInside(from.root, url);
  return { kind: "zip", url, sha256: reference.sha256 };
}
