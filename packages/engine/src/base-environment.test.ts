import { describe, expect, test } from "vitest";
import { ambientEnvironment, jobVariables, logLevel, secretVariableNames } from "./base-environment.ts";

const env = {
  HOME: "/h", PATH: "/bin", LANG: "C", SECRET: "x", CI: "true", CI_JOB_ID: "1", GITLAB_CI: "true", DOCKER_HOST: "d",
  CIRCLE: "x", STEP_RUNNER_COOKIE: "x", NODE_OPTIONS: "x", LD_PRELOAD: "x", UNSET: undefined,
}; // oxfmt-ignore

describe("the environment of a run", () => {
  test("starts from the names that every step gets", () => {
    expect({ ...ambientEnvironment(env) }).toEqual({ HOME: "/h", PATH: "/bin", LANG: "C" });
    const machine = { https_proxy: "http://proxy", NODE_EXTRA_CA_CERTS: "/ca.pem", GIT_SSL_CAINFO: "/ca.pem" };
    expect({ ...ambientEnvironment({ ...env, ...machine }) }).toMatchObject(machine);
  });

  test("keeps the variables of the job apart", () => {
    expect({ ...jobVariables(env) }).toEqual({ CI: "true", CI_JOB_ID: "1", GITLAB_CI: "true", DOCKER_HOST: "d" });
  });

  test("knows GitLab's own secrets by name", () => {
    expect(secretVariableNames(["CI_JOB_ID", "CI_JOB_TOKEN", "DOCKER_AUTH_CONFIG"])).toEqual([
      "CI_JOB_TOKEN",
      "DOCKER_AUTH_CONFIG",
    ]);
  });

  test("says how much tools should say", () => {
    expect(logLevel({}, {})).toEqual({ CI_STEPS_LOG_LEVEL: "info" });
    expect(logLevel({}, { CI_STEPS_LOG_LEVEL: " Debug\n" })).toEqual({ CI_STEPS_LOG_LEVEL: "debug" });
    expect(logLevel({ CI_STEPS_LOG_LEVEL: "" }, { CI_STEPS_LOG_LEVEL: "warn" })).toEqual({
      CI_STEPS_LOG_LEVEL: "info",
    });
    expect(() => logLevel({ CI_STEPS_LOG_LEVEL: "loud\u001b" }, {})).toThrow('log level: "loud?" not supported');
  });
});
