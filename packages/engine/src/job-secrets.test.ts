import { isSensitive, mapObject } from "@steps/model";
import { expect, test } from "vitest";
import { markVariables } from "./job-secrets.ts";

const nothing = { vars: {}, env: {}, offeredEnv: {} };

test("what is named and what GitLab keeps secret is marked wherever it stands", () => {
  const values = { MINE: "mine", CI_JOB_TOKEN: "token", PLAIN: "plain" };
  const marked = markVariables({ vars: values, env: values, offeredEnv: values }, ["MINE"]);
  for (const part of [marked.vars, marked.env, marked.offeredEnv]) {
    expect(mapObject(part, (value) => isSensitive(value))).toEqual({ MINE: true, CI_JOB_TOKEN: true, PLAIN: false });
  }
  expect(marked.maskedValues).toEqual(["mine", "token", "mine", "token"]);
});

test("a name that a job's variable has makes the variable of the environment secret too", () => {
  const marked = markVariables({ ...nothing, vars: { KEY: "a" }, env: { KEY: "b" } }, ["KEY"]);
  expect(marked.maskedValues).toEqual(["a", "b"]);
});

test.each([
  ["http://user:p%40ss@proxy:3128", ["p%40ss", "p@ss"]],
  ["user:pass@proxy", ["pass", "pass"]],
  ["http://user:bad%zz@proxy", ["bad%zz", "bad%zz"]],
  ["http://proxy:3128", []],
  ["http://user@proxy", []],
])("of the proxy %s the password is a secret", (value, secrets) => {
  expect(markVariables({ ...nothing, env: { https_proxy: value, OTHER: value } }, []).maskedValues).toEqual(secrets);
});

test.each([
  ["https://gitlab.com/group/project.git", false],
  ["https://host:8443/group/project", false],
  ["git@gitlab.com:group/project.git", false],
  ["ssh://git@host:2222/group/project.git", false],
  ["https://gitlab-ci-token:abcdef@gitlab.com/group/project.git", true],
  ["https://abcdef@gitlab.com/group/project.git", true],
  ["ssh://git:abcdef@host/project", true],
  ["git:abcdef@host:project", true],
  ["https://host/project.git?private_token=abcdef", true],
  ["abcdef", true],
])("whether the repository's address %s is a secret: %s", (CI_REPOSITORY_URL, isSecret) => {
  const { maskedValues } = markVariables({ ...nothing, vars: { CI_REPOSITORY_URL } }, []);
  expect(maskedValues).toEqual(isSecret ? [CI_REPOSITORY_URL] : []);
  expect(markVariables({ ...nothing, vars: { CI_REPOSITORY_URL } }, ["CI_REPOSITORY_URL"]).maskedValues).toHaveLength(
    1,
  );
});

test("names of an object's own members are names like others", () => {
  const vars = JSON.parse('{"__proto__": "x", "constructor": "y"}') as Record<string, string>;
  const marked = markVariables({ ...nothing, vars }, ["__proto__"]);
  expect(Object.keys(marked.vars)).toEqual(["__proto__", "constructor"]);
  expect(marked.maskedValues).toEqual(["x"]);
});
