import { describe, expect, test } from "vitest";
import { credentialFor, dockerConfigOf, pullCredentials } from "./pull-credentials.ts";

const auth = (user: string): { readonly auth: string } => ({
  auth: Buffer.from(`${user}:p:${user}`).toString("base64"),
});
const CONFIG = JSON.stringify({
  auths: {
    "https://index.docker.io/v1/": auth("hub"),
    "registry.example.com": auth("host"),
    "registry.example.com/group/sub": { username: "sub", password: "secret" },
    "broken.example.com": { auth: "bm9jb2xvbg==" },
  },
});
const ofServer = (
  url: string,
  type = "registry",
): { type: string; url: string; username: string; password: string } => ({
  type,
  url,
  username: "server",
  password: "x",
});

describe("pullCredentials()", () => {
  const credentials = [ofServer("https://registry.example.com"), ofServer("own.example.com:5050"), ofServer("x", "s3")];
  const all = pullCredentials(dockerConfigOf({ credentials }, CONFIG, () => undefined));

  test.each([
    ["alpine:3", "hub"],
    ["user/image@sha256:abc", "hub"],
    ["registry.example.com/group/image:1", "host"],
    ["Registry.example.com/group/sub/image", "sub"],
    ["registry.example.com/group/subway", "host"],
    ["own.example.com:5050/image:1", "server"],
    ["own.example.com/image", undefined],
    ["broken.example.com/image", undefined],
    ["localhost:5000/image", undefined],
    ["x/image", "hub"],
  ])("for %s gives those with the longest path, of the variable before those of the server", (image, user) => {
    expect(credentialFor(image, all)?.username).toBe(user);
  });

  test("keeps colons of passwords", () => {
    expect(credentialFor("alpine", all)).toMatchObject({ username: "hub", password: "p:hub" });
  });

  test.each(["{", "[]", "null", '{"auths": 1}'])("finds none in %j, which is told and not repeated", (text) => {
    const told: string[] = [];
    expect(pullCredentials(dockerConfigOf({ credentials: [] }, text, (line) => told.push(line)))).toEqual([]);
    expect(told).toEqual(["DOCKER_AUTH_CONFIG has no JSON with auths, and is not used for pulls"]);
  });
});

test("dockerConfigOf() joins the credentials of the job with its DOCKER_AUTH_CONFIG, which counts more", () => {
  const credentials = [
    { type: "registry", url: "a.example", username: "u", password: "p" },
    { type: "other", url: "x.example", username: "u", password: "p" },
  ];
  const said: string[] = [];
  const of = (variable?: string): unknown =>
    JSON.parse(dockerConfigOf({ credentials }, variable, (text) => said.push(text)) ?? "null");
  expect(of()).toEqual({ auths: { "a.example": { username: "u", password: "p", auth: "dTpw" } } });
  expect(of('{"auths":{"a.example":{"auth":"eA=="},"b.example":{}}}')).toEqual({
    auths: { "a.example": { auth: "eA==" }, "b.example": {} },
  });
  expect(of("no JSON p4ss")).toEqual(of());
  expect(said).toHaveLength(1);
  expect(said[0]).not.toContain("p4ss");
  expect(dockerConfigOf({ credentials: [] }, undefined, () => undefined)).toBeUndefined();
});
