import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { compactVerify, exportJWK, jwtVerify, SignJWT, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { describe, expect, test } from "vitest";
import {
  type BuildTokenUse,
  inspectBuildToken,
  KnownTokens,
  mintBuildToken,
  parseRoutableToken,
  routingOfBuildToken,
  verifyBuildToken,
} from "../index.ts";
import { createKeySet, fromJsonWebKeySet, toJsonWebKeySet, verifyKeysOf } from "../keys/index.ts";

const now = 1_800_000_000;
const issuer = "https://pod-7.example.com";
const job = {
  issuer,
  jobId: 7_000_001,
  routing: { pod: 7, organization: 1, project: 35, user: 36 },
  podName: "seven",
  runnerId: 2,
  managerId: 3,
  attempt: 1,
  now,
  timeoutSeconds: 3600,
  dependencies: [7_000_000],
};
const set = createKeySet();
const keys = verifyKeysOf(set, now);
const token = mintBuildToken(set.active, job);
const use: BuildTokenUse = { keys, issuer, pod: 7, now, scope: "trace:append", jobId: 7_000_001 };
const jwt = (text: string): string => text.slice("glcbt-".length);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const payload = JSON.parse(Buffer.from(jwt(token).split(".")[1] ?? "", "base64url").toString()) as object;

/** A token with any header and payload that the pod's own key signs. */
function signed(header: object, content: object = payload): string {
  const text = `${encode({ alg: "EdDSA", kid: set.active.kid, typ: "JWT", ...header })}.${encode(content)}`;
  return `glcbt-${text}.${sign(null, Buffer.from(text), set.active.privateKey).toString("base64url")}`;
}

describe.each(["EdDSA", "ES256"] as const)("a token that is signed with %s", (algorithm) => {
  const own = createKeySet(algorithm);
  const minted = mintBuildToken(own.active, job);
  const ownKeys = verifyKeysOf(own, now);

  test("is accepted for the job that it names", () => {
    const result = verifyBuildToken(minted, { ...use, keys: ownKeys });
    expect(result).toEqual({
      accepted: true,
      claims: {
        issuer,
        jobId: 7_000_001,
        tokenId: expect.stringMatching(/^[\w-]{16}$/),
        issuedAt: now,
        expiresAt: now + 3900,
        routing: { pod: 7, organization: 1, project: 35, user: 36 },
        podName: "seven",
        runnerId: 2,
        managerId: 3,
        attempt: 1,
        scopes: ["job:update", "trace:append", "artifacts:write", "artifacts:read"],
        dependencies: [7_000_000],
      },
    });
  });

  test("is a JSON Web Token for the library jose too, with the published keys", async () => {
    const published = createLocalJWKSet(toJsonWebKeySet(ownKeys) as JSONWebKeySet);
    const currentDate = new Date(now * 1000);
    const verified = await jwtVerify(jwt(minted), published, { issuer, audience: "ci-job", currentDate });
    expect(verified.payload).toMatchObject({ sub: "job:7000001", c: "7", o: "1", p: "z", u: "10", att: 1, rid: 2 });
    expect(verified.protectedHeader).toEqual({ alg: algorithm, kid: own.active.kid, typ: "JWT" });
  });

  test("has fewer than 700 characters", () => expect(minted.length).toBeLessThan(700));
});

describe("verifyBuildToken()", () => {
  test("accepts tokens of RS256 that others signed, by their published keys", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const text = await new SignJWT(payload as Record<string, unknown>)
      .setProtectedHeader({ alg: "RS256", kid: "r" })
      .sign(privateKey);
    const published = { keys: [{ ...(await exportJWK(publicKey)), kid: "r", alg: "RS256", use: "sig" }] };
    expect(verifyBuildToken(`glcbt-${text}`, { ...use, keys: fromJsonWebKeySet(published) }).accepted).toBe(true);
  });

  test("accepts the artifacts of a dependency to be read, and nothing else of it", () => {
    const jobId = 7_000_000;
    expect(verifyBuildToken(token, { ...use, scope: "artifacts:read", jobId }).accepted).toBe(true);
    expect(verifyBuildToken(token, { ...use, scope: "artifacts:write", jobId })).toMatchObject({ refusal: "job" });
    expect(verifyBuildToken(token, { ...use, jobId })).toMatchObject({ refusal: "job" });
  });

  test("accepts clocks that differ by a minute, and no more", () => {
    const at = (time: number): unknown => verifyBuildToken(token, { ...use, now: time });
    expect(at(now - 60)).toMatchObject({ accepted: true });
    expect(at(now - 61)).toMatchObject({ refusal: "time" });
    expect(at(now + 3900 + 59)).toMatchObject({ accepted: true });
    expect(at(now + 3900 + 60)).toMatchObject({ refusal: "time" });
  });

  test.each([
    ["form", jwt(token)],
    ["form", token.slice(0, -1)],
    ["form", `${token}.x`],
    ["form", `${token}=`],
    ["form", signed({ crit: ["exp"] })],
    ["form", signed({ b64: false })],
    ["form", signed({ alg: "none" })],
    ["form", signed({ kid: 1 })],
    ["form", signed({}, { ...payload, sub: "job:-1" })],
    ["form", signed({}, { ...payload, att: "1" })],
    ["form", signed({}, { ...payload, c: "Z" })],
    ["form", signed({}, { ...payload, scp: ["everything"] })],
    ["form", signed({}, { ...payload, deps: Array.from({ length: 1001 }, () => 1) })],
    ["form", `glcbt-${"a".repeat(10_000_000)}`],
    ["key", signed({ kid: "unknown" })],
    ["key", signed({ alg: "ES256" })],
    ["key", signed({ alg: "RS256" })],
    ["signature", signed({}).replace(/\.[^.]*$/, `.${Buffer.alloc(64).toString("base64url")}`)],
    ["signature", signed({}).replace(/\.[^.]*$/, ".")],
    ["signature", token.replace(/\.[^.]*\./, `.${encode({ ...payload, att: 2 })}.`)],
    ["issuer", signed({}, { ...payload, iss: "https://pod-8.example.com" })],
    ["issuer", signed({}, { ...payload, aud: "registry" })],
    ["pod", signed({}, { ...payload, c: "8" })],
    ["time", mintBuildToken(set.active, { ...job, now: now - 4000 })],
    ["scope", mintBuildToken(set.active, { ...job, scopes: ["job:update"] })],
    ["job", mintBuildToken(set.active, { ...job, jobId: 7_000_002 })],
  ])("refuses by its %s: %#", (refusal, text) => {
    expect(verifyBuildToken(text, use)).toMatchObject({ accepted: false, refusal });
  });

  test("tells the claims only of tokens that the pod signed for itself", () => {
    const told = (text: string): unknown => (verifyBuildToken(text, use) as { claims?: unknown }).claims;
    expect(told(mintBuildToken(set.active, { ...job, now: now - 4000 }))).toMatchObject({ jobId: 7_000_001 });
    expect(told(mintBuildToken(createKeySet().active, job))).toBeUndefined();
    expect(told(signed({}, { ...payload, c: "8" }))).toBeUndefined();
    expect(told(signed({}, { ...payload, iss: "https://pod-8.example.com" }))).toBeUndefined();
  });

  test("does not take a public key for a shared secret", () => {
    const publicKey = createPublicKey(set.active.privateKey).export({ type: "spki", format: "pem" });
    const text = `${encode({ alg: "HS256", kid: set.active.kid })}.${encode(payload)}`;
    const forged = `glcbt-${text}.${createHmac("sha256", publicKey).update(text).digest("base64url")}`;
    expect(verifyBuildToken(forged, use)).toEqual({ accepted: false, refusal: "form" });
  });
});

describe("mintBuildToken()", () => {
  test("gives no token a longer life than 31 days", () => {
    const text = mintBuildToken(set.active, { ...job, timeoutSeconds: Number.POSITIVE_INFINITY });
    expect(inspectBuildToken(text)?.claims.expiresAt).toBe(now + 31 * 24 * 3600);
  });

  test.each([
    ["a time that is no number", { timeoutSeconds: Number.NaN }],
    ["a negative attempt", { attempt: -1 }],
    ["a job that is no number", { jobId: 1.5 }],
    ["more dependencies than fit", { dependencies: Array.from({ length: 900 }, (_, i) => 7_000_000 + i) }],
  ])("refuses %s", (_, change) => {
    expect(() => mintBuildToken(set.active, { ...job, ...change })).toThrow(
      expect.objectContaining({ code: "TOKEN_INVALID" }),
    );
  });

  test("signs what jose verifies, whatever else is in the token", async () => {
    const text = mintBuildToken(set.active, { ...job, podName: "ünïcode", scopes: ["registry:pull", "api:read"] });
    const verified = await compactVerify(jwt(text), createPublicKey(set.active.privateKey));
    expect(JSON.parse(Buffer.from(verified.payload).toString())).toMatchObject({ pod: "ünïcode" });
  });
});

test("routingOfBuildToken() reads where a token belongs without a key, and nothing of other texts", () => {
  expect(routingOfBuildToken(token)).toEqual({ pod: 7, organization: 1, project: 35, user: 36 });
  expect(routingOfBuildToken(signed({}, { c: "2", iss: "gitlab.example.com" }))).toEqual({ pod: 2 });
  expect(routingOfBuildToken("glcbt-64_abcdefghijklmnopqrst")).toBeUndefined();
  expect(parseRoutableToken(token)).toBeUndefined();
});

describe("a token that is known", () => {
  const known = new KnownTokens();
  const again: BuildTokenUse = { ...use, known };

  test("is accepted with the same claims as at first", () => {
    const first = verifyBuildToken(token, again);
    expect(known.find(token, keys)).toBeDefined();
    expect(verifyBuildToken(token, again)).toEqual(first);
    expect(first).toEqual(verifyBuildToken(token, use));
  });

  test("is refused by every check but that of its signature, as one that is not known", () => {
    for (const changed of [
      { issuer: "https://other.example.com" },
      { pod: 8 },
      { now: now + 5000 },
      { scope: "api:read" },
      { jobId: 7_000_002 },
    ] as const)
      expect(verifyBuildToken(token, { ...again, ...changed })).toEqual(
        verifyBuildToken(token, { ...use, ...changed }),
      );
  });

  test("is refused once its key does not verify any more, also when another key has the same name", () => {
    const other = createKeySet();
    const renamed = new Map([[set.active.kid, [...verifyKeysOf(other, now).values()][0] as never]]);
    for (const [others, refusal] of [
      [verifyKeysOf(other, now), "key"],
      [renamed, "signature"],
    ] as const) {
      verifyBuildToken(token, again);
      expect(verifyBuildToken(token, { ...again, keys: others })).toMatchObject({ accepted: false, refusal });
    }
  });

  test("makes nothing known of what was refused", () => {
    const forged = `${token.slice(0, -4)}AAAA`;
    expect(verifyBuildToken(forged, again)).toMatchObject({ refusal: "signature" });
    expect(known.find(forged, keys)).toBeUndefined();
  });
});
