import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isStepsError } from "@steps/model";
import { buildZip, snapshot, startFileServer, tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { CacheOptions } from "../src/index.ts";
import { openCache } from "./fixtures.ts";
import { AUTHORIZATION, trustedAuthority, USER } from "./private-server.ts";

const ARCHIVE = buildZip([{ name: "step.yml", content: "spec: {}\n" }]);
const NETRC = `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n`;

let authority: Awaited<ReturnType<typeof trustedAuthority>>;
beforeAll(async () => {
  authority = await trustedAuthority();
});

interface Answer {
  readonly status?: number;
  readonly redirect?: string;
}

interface PrivateFiles extends AsyncDisposable {
  readonly origin: string;
  /** The header `Authorization` of each question, or `none`. */
  readonly sent: string[];
}

/** A server that gives an archive to those who know the password of `USER`, unless `answer` says something else. */
async function serve(
  answer: (question: IncomingMessage) => Answer | undefined = () => undefined,
): Promise<PrivateFiles> {
  const sent: string[] = [];
  const server = createServer(authority.certificate, (question, response) => {
    const { authorization } = question.headers;
    sent.push(authorization ?? "none");
    const { redirect, status = redirect === undefined ? undefined : 302 } = answer(question) ?? {};
    const isKnown = authorization === AUTHORIZATION;
    const headers = redirect === undefined ? { "www-authenticate": "Basic", etag: '"1"' } : { location: redirect };
    const own = question.headers["if-none-match"] === '"1"' ? 304 : 200;
    response.writeHead(status ?? (isKnown ? own : 401), headers);
    response.end(status === undefined && isKnown && own === 200 ? ARCHIVE : "");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((closed) => void server.close(() => closed()));
    },
  };
}

/** The environment of a user with this `.netrc`. */
function userWith(netrc?: string): Record<string, string> {
  const home = tempDir();
  if (netrc !== undefined) writeFileSync(join(home, ".netrc"), netrc);
  return { HOME: home };
}

async function fetchFrom(
  url: string,
  env: Record<string, string>,
  options: Partial<CacheOptions> & { readonly kind?: "zip" | "file" } = {},
): Promise<{ uri: string } | { code: string; message: string; hint: string | undefined }> {
  const { kind = "zip", ...rest } = options;
  await using cache = openCache({ gitCredentials: "user", env, ...rest });
  try {
    const { resource } = await cache.resolve({ kind, url });
    return { uri: resource.uri };
  } catch (error) {
    if (!isStepsError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

describe("a private archive over https", () => {
  test("is read with ~/.netrc, which only a 401 makes anybody look into", async () => {
    await using server = await serve();
    const url = `${server.origin}/a.zip`;
    const root = join(tempDir(), "cache");
    expect(await fetchFrom(url, userWith(NETRC), { root })).toEqual({ uri: url });
    expect(server.sent).toEqual(["none", AUTHORIZATION]);
    expect(JSON.stringify(snapshot(root))).not.toMatch(/s3cret|eW91OnMzY3JldC10b2tlbg/);
    await using open = await serve(() => ({ status: 404 }));
    expect(await fetchFrom(`${open.origin}/a.zip`, userWith(NETRC))).toMatchObject({ code: "REFERENCE_NOT_FOUND" });
    expect(open.sent).toEqual(["none"]);
  });

  test("is read again, and asked for its changes, with the same credentials", async () => {
    await using server = await serve();
    const url = `${server.origin}/a.zip`;
    const [root, env] = [join(tempDir(), "cache"), userWith(NETRC)];
    for (let i = 0; i < 2; i++) expect(await fetchFrom(url, env, { root })).toEqual({ uri: url });
    expect(server.sent).toEqual(["none", AUTHORIZATION, "none", AUTHORIZATION]);
  });

  test("is not read with a default entry, another user's password or a control character", async () => {
    await using server = await serve();
    const url = `${server.origin}/a.zip`;
    const host = server.origin.slice("https://".length);
    const hint = `STEP_RUNNER_MIRROR=https://${host}/=https://USER:TOKEN@${host}/. Servers answer so, too, where an archive does not exist.`;
    expect(await fetchFrom(url, userWith(`default login you password ${USER.password}\n`))).toEqual({
      code: "AUTH_FAILED",
      message: `Cannot fetch "${url}": the server answered 401`,
      hint: `~/.netrc has no login and password for ${host}, and its default entry is not used. Write the credentials to ~/.netrc or set ${hint}`,
    });
    const other = url.replace("//", "//other@");
    expect(await fetchFrom(other, userWith(NETRC))).toMatchObject({ code: "AUTH_FAILED" });
    const control = `machine 127.0.0.1 login you password "${USER.password}\\r\\nx: y"\n`;
    expect(await fetchFrom(url, userWith(control))).toMatchObject({
      hint: expect.stringContaining("~/.netrc has a user or password that cannot be sent."),
    });
    expect(server.sent).not.toContain(AUTHORIZATION);
  });

  test("is asked for once with a wrong password, which no message shows", async () => {
    await using server = await serve();
    const env = userWith("machine 127.0.0.1 login you password wr0ng-netrc\n");
    await using cache = openCache({ gitCredentials: "user", env });
    for (let i = 0; i < 2; i++) {
      const failed = await cache
        .resolve({ kind: "zip", url: `${server.origin}/a.zip` })
        .catch((error: unknown) => error);
      expect(String(failed)).toContain("the server did not take the credentials of ~/.netrc");
      expect(JSON.stringify([failed, String(failed)])).not.toMatch(/wr0ng|eW91OndyMG5n/);
    }
    expect(server.sent.filter((header) => header !== "none")).toHaveLength(1);
  });

  test("is asked for without credentials where they are not to be used", async () => {
    await using server = await serve();
    for (const gitCredentials of [undefined, "none"] as const) {
      const failed = await fetchFrom(`${server.origin}/a.zip`, userWith(NETRC), { gitCredentials });
      expect(failed).toMatchObject({ hint: expect.stringContaining("STEP_RUNNER_GIT_CREDENTIALS=user") });
    }
    expect(server.sent).toEqual(["none", "none"]);
  });

  test("gets the credentials of the reference and no others", async () => {
    await using server = await serve();
    const url = `${server.origin}/a.zip`;
    expect(await fetchFrom(url.replace("//", "//you:wr0ng@"), userWith(NETRC))).toMatchObject({ code: "AUTH_FAILED" });
    expect(server.sent).not.toContain(AUTHORIZATION);
    expect(await fetchFrom(url.replace("//", "//you@"), userWith(NETRC))).toEqual({ uri: url });
  });

  test("gets none by way of another server, in whichever direction it redirects", async () => {
    await using target = await serve();
    await using source = await serve(() => ({ redirect: `${target.origin}/a.zip` }));
    const failed = await fetchFrom(`${source.origin}/a.zip`, userWith(NETRC));
    expect(failed).toMatchObject({ hint: expect.stringContaining(`redirects to ${target.origin}`) });
    expect([source.sent, target.sent]).toEqual([["none"], ["none"]]);
    // The first server takes the password, and sends who has it to the second.
    await using both = await serve(({ headers: { authorization } }) =>
      authorization === AUTHORIZATION ? { redirect: `${target.origin}/b.zip` } : undefined,
    );
    expect(await fetchFrom(`${both.origin}/a.zip`, userWith(NETRC))).toMatchObject({ code: "AUTH_FAILED" });
    expect([both.sent, target.sent]).toEqual([
      ["none", AUTHORIZATION],
      ["none", "none"],
    ]);
    // The second one sends him back, to something else.
    let home = "";
    await using away = await serve(() => ({ redirect: `${home}/secret.zip` }));
    await using first = await serve(({ url }) => (url === "/a.zip" ? { redirect: `${away.origin}/` } : undefined));
    home = first.origin;
    expect(await fetchFrom(`${home}/a.zip`, userWith(NETRC))).toMatchObject({ code: "AUTH_FAILED" });
    const withPassword = `${home}/a.zip`.replace("//", `//${USER.username}:${USER.password}@`);
    expect(await fetchFrom(withPassword, userWith())).toMatchObject({ code: "AUTH_FAILED" });
    expect(first.sent).toEqual(["none", "none", AUTHORIZATION, "none"]);
    expect(away.sent).toEqual(["none", "none"]);
  });

  test("gets them again after a redirect that stays with the server", async () => {
    await using server = await serve(({ url }) => (url === "/a.zip" ? { redirect: "/b.zip" } : undefined));
    const url = `${server.origin}/a.zip`;
    expect(await fetchFrom(url, userWith(NETRC))).toEqual({ uri: url });
    expect(server.sent).toEqual(["none", "none", AUTHORIZATION, AUTHORIZATION]);
  });

  test("says whose credentials were sent to a server that knows them and gives nothing for them", async () => {
    await using server = await serve(({ headers }) =>
      headers.authorization === AUTHORIZATION ? { status: 403 } : undefined,
    );
    expect(await fetchFrom(`${server.origin}/a.zip`, userWith(NETRC))).toMatchObject({
      code: "AUTH_FAILED",
      hint: expect.stringContaining("The credentials of ~/.netrc were sent."),
    });
  });
});

test("a private file over https is read with ~/.netrc, and an archive over plain http is not", async () => {
  await using server = await serve();
  const url = `${server.origin}/ci.yml`;
  expect(await fetchFrom(url, userWith(NETRC), { kind: "file" })).toEqual({ uri: url });
  await using plain = await startFileServer({}, { onRequest: () => ({ status: 401 }) });
  expect(await fetchFrom(`${plain.url}/a.zip`, userWith(NETRC))).toMatchObject({
    code: "AUTH_FAILED",
    hint: expect.stringContaining("Those of .netrc are not sent without TLS."),
  });
  expect(plain.requests.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
});
