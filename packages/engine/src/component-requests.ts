import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "@steps/platform/runtime";
import type { LoadFrom } from "@steps/executor";
import { mapObject, revealString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { RequestPlace } from "@steps/model/kinds";
import { assertInside } from "./find-step-file.ts";

const REGISTRY_VARIABLES = [
  "DOCKER_AUTH_CONFIG",
  "CI_REGISTRY",
  "CI_REGISTRY_USER",
  "CI_REGISTRY_PASSWORD",
  "CI_SERVER_HOST",
];

/** Job variables are no environment, but GitLab puts the credentials of registries there for whoever fetches. */
export function registryVariables(vars: EnvironmentRecord = {}): EnvironmentRecord {
  return Object.fromEntries(
    REGISTRY_VARIABLES.flatMap((name) => (vars[name] === undefined ? [] : [[name, vars[name]]])),
  );
}

/** The place in which a reference stands. Its `path()` throws an `EngineError` for a file outside of the component. */
export function requestPlace(from: LoadFrom, env?: EnvironmentRecord): RequestPlace {
  return {
    path(written) {
      const path = /^file:/i.test(written) ? fileURLToPath(written) : written;
      const whole = resolve(from.dir, path);
      if (from.root !== undefined && !isAbsolute(path) && existsSync(whole)) assertInside(from.root, whole);
      return whole;
    },
    env: env && mapObject(env, revealString),
  };
}
