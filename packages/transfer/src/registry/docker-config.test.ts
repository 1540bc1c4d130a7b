import { isStepsError } from "@steps/model";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findCredentials, findHelper, parseDockerConfig } from "./docker-config.ts";

function find(auths: object, registry: string, repository = "g/p"): unknown {
  return findCredentials(parseDockerConfig(JSON.stringify({ auths }), "test"), registry, repository);
}

const user = { username: "u", password: "p" };

test.each([
  ["h", "h"],
  ["H:5000", "h:5000"],
  ["https://h", "h"],
  ["https://h/v2/", "h"],
  ["http://h/v1", "h"],
  ["h/g", "h"],
  ["h/g/p", "h"],
  ["https://index.docker.io/v1/", "docker.io"],
])("the key %j is found for %j", (key, registry) => {
  expect(find({ [key]: user }, registry)).toMatchObject(user);
});

test.each([
  ["h", "h:5000"],
  ["h:5000", "h"],
  ["h/g/p/x", "h"],
  ["h/g2", "h"],
  ["example.com", "h.example.com"],
])("the key %j is not for %j", (key, registry) => {
  expect(find({ [key]: user }, registry)).toBeUndefined();
});

test("the longest path decides, and names and tokens are read in each form", () => {
  const b = { username: "b", password: "p:q" };
  expect(find({ h: user, "h/g": { auth: Buffer.from("b:p:q").toString("base64") } }, "h")).toMatchObject(b);
  expect(find({ h: { identitytoken: "t" } }, "h")).toMatchObject({ identityToken: "t" });
  expect(find({ h: { registrytoken: "t" } }, "h")).toMatchObject({ registryToken: "t" });
  expect(find({ h: { auth: "!!!" } }, "h")).toBeUndefined();
  expect(find({ h: {} }, "h")).toBeUndefined();
  const config = parseDockerConfig('{"credHelpers": {"h/g": "a"}, "credsStore": "b"}', "test");
  expect([findHelper(config, "h", "g/p"), findHelper(config, "h", "x")]).toEqual(["a", "b"]);
});

test("no text breaks it, and no message repeats what it read", () => {
  const anyText = fc.oneof(
    fc.json(),
    fc.string(),
    fc.json().map((text) => `{"auths": ${text}, "credHelpers": ${text}}`),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      try {
        findCredentials(parseDockerConfig(text, "test"), "h", "g/p");
      } catch (error) {
        expect(isStepsError(error, "AUTH_FAILED")).toBe(true);
      }
    }),
  );
  expect(() => parseDockerConfig("s3cret", "test")).toThrow(/^(?!.*s3cret)/);
});
