import { describe, expect, test } from "vitest";
import { mergeDockerAuth } from "./docker-auth.ts";

const entry = { registry: "h", username: "u", password: "p:q" };
const auth = Buffer.from("u:p:q").toString("base64");

describe("mergeDockerAuth()", () => {
  test.each([undefined, "", " \n", "{}", '{"auths": {}}'])("starts from %j", (existing) => {
    expect(JSON.parse(mergeDockerAuth(existing, entry))).toEqual({ auths: { h: { auth } } });
  });

  test("keeps everything else, and puts new credentials in the place of old ones", () => {
    const existing = '{"credsStore": "x", "auths": {"a": {"auth": "b"}, "h": {"auth": "old"}}}';
    expect(JSON.parse(mergeDockerAuth(existing, { ...entry, registry: " h/ " }))).toEqual({
      credsStore: "x",
      auths: { a: { auth: "b" }, h: { auth } },
    });
  });

  test.each([
    [{ ...entry, registry: " " }, undefined],
    [{ ...entry, registry: "u@h" }, undefined],
    [{ ...entry, username: "" }, undefined],
    [{ ...entry, username: "a:b" }, undefined],
    [{ ...entry, password: "" }, undefined],
    [entry, "s3cret"],
    [entry, "[]"],
    [entry, '{"auths": "s3cret"}'],
  ])("refuses %j beside %j, and repeats nothing of it", (wrong, existing) => {
    expect(() => mergeDockerAuth(existing, wrong)).toThrow(/^(?!.*s3cret)Cannot add credentials/);
  });

  test.each(["p", ":", "ü:\u0000", "\u{1f600}"])("gives what is read back to the same credentials: %j", (password) => {
    const config = JSON.parse(mergeDockerAuth(undefined, { ...entry, password })) as { auths: { h: { auth: string } } };
    expect(Buffer.from(config.auths.h.auth, "base64").toString("utf8")).toBe(`u:${password}`);
  });
});
