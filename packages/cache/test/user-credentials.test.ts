import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isStepsError } from "@steps/model";
import { snapshot, tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { CacheOptions } from "../src/index.ts";
import { BACKENDS, openCache } from "./fixtures.ts";
import { AUTHORIZATION, type PrivateServer, startPrivateServer, trustedAuthority, USER } from "./private-server.ts";

let authority: Awaited<ReturnType<typeof trustedAuthority>>;
beforeAll(async () => {
  authority = await trustedAuthority();
});

/** A user's home, with what is written to it. */
interface Home {
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  /** What the helper was told, one word of git's protocol and its lines after the other. */
  heard(): string;
}

function home({
  netrc,
  gitconfig,
  env = {},
}: {
  netrc?: string;
  gitconfig?: string;
  env?: Record<string, string>;
}): Home {
  const path = tempDir();
  if (netrc !== undefined) writeFileSync(join(path, ".netrc"), netrc);
  if (gitconfig !== undefined) writeFileSync(join(path, ".gitconfig"), gitconfig.replaceAll("HOME", path));
  const log = join(path, "heard");
  return {
    path,
    env: { PATH: process.env["PATH"] ?? "", HOME: path, GIT_CONFIG_NOSYSTEM: "1", ...authority.env, ...env },
    heard: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
  };
}

/** A helper as users write it, which keeps what it hears and answers with these lines. */
function helper(answer: string, more = ""): string {
  const script = `f() { { echo \\"<$1>\\"; cat; } >> HOME/heard; test \\"$1\\" = get || return 0; ${answer}; }; f`;
  return `[credential]\n\thelper = "!${script}"\n${more}`;
}

const GOOD = `echo username=${USER.username}; echo password=${USER.password}`;

async function fetchFrom(
  url: string,
  { env }: Pick<Home, "env">,
  options: Partial<CacheOptions> = {},
): Promise<{ version?: string | undefined; code?: string; message?: string; hint?: string }> {
  await using cache = openCache({ gitCredentials: "user", env, ...options });
  try {
    const { resource } = await cache.resolve({ kind: "git", url, version: "main" });
    return { version: resource.resolvedVersion };
  } catch (error) {
    if (!isStepsError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

function authorizations({ requests }: PrivateServer): string[] {
  return [...new Set(requests.map(({ headers }) => headers["authorization"] ?? "none"))];
}

describe.for(BACKENDS)("a private repository over https, by %s git", (git) => {
  test("is read with ~/.netrc, which only a 401 makes anybody look into", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const { host, commit, url } = server;
    const place = home({ netrc: `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n` });
    const root = join(tempDir(), "cache");
    expect(await fetchFrom(url, place, { git, root })).toEqual({ version: commit });
    expect(authorizations(server)).toEqual(["none", AUTHORIZATION]);
    expect(JSON.stringify(snapshot(root))).not.toMatch(/s3cret|eW91OnMzY3JldC10b2tlbg/);
    const named = home({ env: { NETRC: join(tempDir(), "mine") } });
    const of = (port: string): string => `machine 127.0.0.1:${port} login you password ${USER.password}\n`;
    writeFileSync(named.env["NETRC"] as string, `machine 127.0.0.1 login you password no\n${of(host.slice(10))}`);
    expect(await fetchFrom(url, named, { git })).toEqual({ version: commit });
    await using open = await startPrivateServer(authority.certificate, {});
    expect(await fetchFrom(open.url, place, { git })).toEqual({ version: open.commit });
    expect(authorizations(open)).toEqual(["none"]);
  });

  test("is read with a credential helper, which hears that it was right", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const place = home({ gitconfig: helper(GOOD) });
    expect(await fetchFrom(server.url, place, { git })).toEqual({ version: server.commit });
    const asked = `protocol=https\nhost=${server.host}\n`;
    const answered = `${asked}username=you\npassword=s3cret-token\n`;
    expect(place.heard()).toBe(`<get>\n${asked}<store>\n${answered}`);
    const byPath = home({ gitconfig: helper(GOOD, "\tuseHttpPath = true\n") });
    expect(await fetchFrom(`${server.url}.git`, byPath, { git })).toEqual({ version: server.commit });
    expect(byPath.heard()).toContain(`host=${server.host}\npath=private/tools.git\n`);
    const ofAnother = helper(GOOD).replace("[credential]", '[credential "https://other.example"]');
    expect(await fetchFrom(server.url, home({ gitconfig: ofAnother }), { git })).toMatchObject({ code: "AUTH_FAILED" });
  });

  test("is not read with a wrong password: its source is named, and the helper hears it", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const place = home({
      netrc: "machine 127.0.0.1 login you password wr0ng-netrc\n",
      gitconfig: helper("echo username=you; echo password=wr0ng-helper"),
    });
    const failed = await fetchFrom(server.url, place, { git });
    expect(failed.message).toBe(
      `Cannot fetch from "${server.url}": access was denied: the server did not take the credentials of ~/.netrc and of git's credential helper`,
    );
    expect(JSON.stringify(failed)).not.toContain("wr0ng");
    expect(place.heard()).toMatch(/^<get>\n[^<]*<erase>\n[^<]*password=wr0ng-helper\n$/);
    const right = home({ netrc: "machine 127.0.0.1 login you password wr0ng\n", gitconfig: helper(GOOD) });
    expect(await fetchFrom(server.url, right, { git })).toEqual({ version: server.commit });
  });

  test("says where it looked, and what can be done", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const { host, url } = server;
    const place = home({ netrc: "machine a.example login a password b\ndefault login x password s3cret-default\n" });
    expect(await fetchFrom(url, place, { git })).toEqual({
      code: "AUTH_FAILED",
      message: expect.stringContaining("access was denied"),
      hint:
        `~/.netrc has no login and password for ${host}, and its default entry is not used. Git knows no credentials for ${host}. ` +
        `Give the credentials to a helper of git, write them to ~/.netrc, or set STEP_RUNNER_MIRROR=https://${host}/=https://USER:TOKEN@${host}/. ` +
        "Servers answer so, too, where a repository does not exist.",
    });
    expect(authorizations(server)).toEqual(["none"]);
    const { HOME: _, ...homeless } = place.env;
    expect((await fetchFrom(url, { env: homeless }, { git })).hint).toContain(
      "HOME is not set, so there is no ~/.netrc.",
    );
  });

  test("is asked for without credentials where they are not to be used", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const netrc = `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n`;
    const place = home({ netrc, gitconfig: helper(GOOD) });
    for (const gitCredentials of [undefined, "none"] as const) {
      const { code, hint } = await fetchFrom(server.url, place, { git, gitCredentials });
      expect([code, hint]).toEqual(["AUTH_FAILED", expect.stringContaining("STEP_RUNNER_GIT_CREDENTIALS=user")]);
    }
    expect([authorizations(server), place.heard()]).toEqual([["none"], ""]);
  });

  test("gets the credentials of the reference and no others, or the password of the user in it", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const { url, commit } = server;
    const netrc = `machine 127.0.0.1 login other password no\nmachine 127.0.0.1 login you password ${USER.password}\n`;
    const place = home({ netrc, gitconfig: helper(GOOD) });
    const withUser = (user: string): string => url.replace("//", `//${user}@`);
    expect(await fetchFrom(withUser("you:wr0ng"), place, { git })).toMatchObject({ code: "AUTH_FAILED" });
    expect(authorizations(server)).not.toContain(AUTHORIZATION);
    expect(await fetchFrom(withUser("you"), place, { git })).toEqual({ version: commit });
    expect(place.heard()).toBe("");
    expect(await fetchFrom(withUser("nobody"), place, { git })).toMatchObject({ code: "AUTH_FAILED" });
    expect(place.heard()).toContain("username=nobody\n");
  });

  test("sends nothing to the target of a redirect, nor over plain http", async () => {
    await using target = await startPrivateServer(authority.certificate);
    await using source = await startPrivateServer(authority.certificate, {
      onRequest: ({ url }) => ({ redirect: `https://${target.host}${url}` }),
    });
    const netrc = `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n`;
    const place = home({ netrc, gitconfig: helper(GOOD) });
    const { code, hint } = await fetchFrom(source.url, place, { git });
    expect([code, hint]).toEqual(["AUTH_FAILED", expect.stringContaining(`redirects to https://${target.host}`)]);
    expect([authorizations(source), authorizations(target), place.heard()]).toEqual([["none"], ["none"], ""]);
    // The first server wants a password, and sends who has it to the second.
    await using both = await startPrivateServer(authority.certificate, {
      onRequest: ({ url, headers }) =>
        headers["authorization"] === AUTHORIZATION ? { redirect: `https://${target.host}${url}` } : undefined,
      auth: USER,
    });
    expect(await fetchFrom(both.url, place, { git })).toMatchObject({ code: "AUTH_FAILED" });
    const onlyHelper = home({ gitconfig: helper(GOOD) });
    expect(await fetchFrom(both.url, onlyHelper, { git })).toMatchObject({ code: "AUTH_FAILED" });
    expect([authorizations(both), authorizations(target)]).toEqual([["none", AUTHORIZATION], ["none"]]);
    // The helper's password is right: it was the other server that wanted one.
    expect(onlyHelper.heard()).not.toContain("<erase>");
    const { startGitHttpServer } = await import("@steps/testkit");
    await using plain = await startGitHttpServer(tempDir(), { auth: USER });
    expect((await fetchFrom(`${plain.url}/x`, place, { git })).hint).toContain("not sent without TLS");
    expect([plain.requests.some(({ headers }) => headers["authorization"] !== undefined), place.heard()]).toEqual([
      false,
      "",
    ]);
  });

  test("names the rule of insteadOf that git would have followed", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const { host, url } = server;
    const rules = `[url "git@git.example.com:"]\n\tinsteadOf = https://${host}/\n[url "https://x/"]\n\tinsteadOf = https://\n`;
    const ssh = await fetchFrom(url, home({ gitconfig: rules }), { git });
    expect(ssh.hint).toContain(`STEP_RUNNER_MIRROR=https://${host}/=ssh://git@git.example.com/.`);
    const secret = `[url "https://oauth2:s3cret-rule@${host}/"]\n\tinsteadOf = https://${host}/\n`;
    const token = await fetchFrom(url, home({ gitconfig: secret }), { git });
    expect(token.hint).toContain(`from "https://USER:TOKEN@${host}/…" (url.….insteadOf)`);
    expect(token.hint).not.toContain("s3cret-rule");
  });

  test("says whose credentials were sent to a server that knows them and gives nothing for them", async () => {
    let status = 404;
    await using server = await startPrivateServer(authority.certificate, {
      onRequest: ({ headers }) => (headers["authorization"] === AUTHORIZATION && status !== 0 ? { status } : undefined),
      auth: USER,
    });
    const place = home({ gitconfig: helper(GOOD) });
    await using cache = openCache({ gitCredentials: "user", env: place.env, git });
    const failure = async (version: string): Promise<unknown> =>
      await cache.resolve({ kind: "git", url: server.url, version }).then(
        () => "read",
        ({ code, hint }: { code: string; hint: string }) => [code, hint],
      );
    const hint = expect.stringContaining("The credentials of git's credential helper were sent.") as unknown;
    expect(await failure("main")).toEqual(["REPOSITORY_NOT_FOUND", hint]);
    status = 403;
    expect(await failure("main")).toEqual(["AUTH_FAILED", hint]);
    status = 503;
    expect(await failure("main")).toEqual(["TRANSPORT", undefined]);
    expect(place.heard()).not.toMatch(/<store>|<erase>/);
    // None of it is remembered against them.
    status = 0;
    expect(await failure("main")).toBe("read");
    status = 403;
    expect(await failure("other")).toEqual(["AUTH_FAILED", hint]);
  });

  test("asks nobody twice for a password that was wrong", async () => {
    await using server = await startPrivateServer(authority.certificate);
    const place = home({ gitconfig: helper("echo username=you; echo password=wr0ng") });
    await using cache = openCache({ gitCredentials: "user", env: place.env, git });
    for (const version of ["main", "other", "main"]) {
      const failed = cache.resolve({ kind: "git", url: server.url, version });
      await expect(failed).rejects.toThrow("did not take the credentials of git's credential helper");
    }
    expect(place.heard().match(/<\w+>/g)).toEqual(["<get>", "<erase>"]);
  });

  test("hides the credentials that a server answers with", async () => {
    await using server = await startPrivateServer(authority.certificate, {
      onRequest: ({ headers: { authorization } }) => {
        if (authorization === undefined) return undefined;
        const reason = `${authorization} ${USER.password}`;
        return { status: 500, reason, body: `error: ${reason}`, headers: { "content-type": "text/plain" } };
      },
      auth: USER,
    });
    const netrc = `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n`;
    const failed = await fetchFrom(server.url, home({ netrc }), { git });
    expect(failed).toMatchObject({ code: "TRANSPORT", message: expect.stringContaining("[MASKED]") });
    expect(JSON.stringify(failed)).not.toMatch(/s3cret|eW91OnMzY3JldC10b2tlbg/);
  });
});

test("without a git program only ~/.netrc is read", async () => {
  await using server = await startPrivateServer(authority.certificate);
  const netrc = `machine 127.0.0.1 login ${USER.username} password ${USER.password}\n`;
  const { env } = home({ netrc, env: { PATH: tempDir() } });
  expect(await fetchFrom(server.url, { env })).toEqual({ version: server.commit });
  const bare = home({ env: { PATH: tempDir() } });
  expect((await fetchFrom(server.url, bare)).hint).toContain(
    "There is no ~/.netrc. There is no git whose credential helpers could be asked.",
  );
});

test("helpers are asked once for a repository, and get no terminal, no repository and no secret argument", async () => {
  await using server = await startPrivateServer(authority.certificate);
  const bin = tempDir();
  const log = join(bin, "log");
  const path = process.env["PATH"] ?? "";
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$@" >> ${log}\nPATH='${path}' exec git "$@"\n`, { mode: 0o755 });
  const place = home({
    gitconfig: helper(`env > HOME/env; ${GOOD}`),
    env: {
      PATH: `${bin}:${path}`,
      GIT_DIR: "/nowhere",
      GIT_ASKPASS: "/nowhere",
      SSH_ASKPASS: "/nowhere",
      DISPLAY: ":9",
    },
  });
  const asking = `#!/bin/sh\ntouch ${join(bin, "asked")}\n`;
  writeFileSync(join(bin, "ask"), asking, { mode: 0o755 });
  await using cache = openCache({ gitCredentials: "user", env: place.env });
  for (const version of ["main", server.commit, "HEAD"]) await cache.resolve({ kind: "git", url: server.url, version });
  expect(place.heard().match(/<\w+>/g)).toEqual(["<get>", "<store>"]);
  expect(readFileSync(log, "utf8")).not.toMatch(/s3cret|eW91OnMzY3JldC10b2tlbg/);
  const env = readFileSync(join(place.path, "env"), "utf8");
  expect(env).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
  expect(env).not.toMatch(/^(?:GIT_DIR|SSH_ASKPASS)=|nowhere/m);
  const popup = home({
    gitconfig: `[core]\n\taskPass = ${join(bin, "ask")}\n`,
    env: { SSH_ASKPASS: join(bin, "ask") },
  });
  expect((await fetchFrom(server.url, popup)).hint).toContain("Git knows no credentials");
  expect(existsSync(join(bin, "asked"))).toBe(false);
});

test("the configuration of a repository that the command runs in is not read", async () => {
  await using server = await startPrivateServer(authority.certificate);
  const place = home({});
  const project = join(place.path, "project");
  mkdirSync(project);
  execFileSync("git", ["init", "-q", project]);
  const canary = join(place.path, "canary");
  execFileSync("git", ["-C", project, "config", "credential.helper", `!touch ${canary}; echo password=x`]);
  const before = process.cwd();
  try {
    process.chdir(project);
    expect((await fetchFrom(server.url, place)).code).toBe("AUTH_FAILED");
  } finally {
    process.chdir(before);
  }
  expect(existsSync(canary)).toBe(false);
});

test("a .netrc that is no file is not waited for", async () => {
  await using server = await startPrivateServer(authority.certificate);
  const place = home({});
  execFileSync("mkfifo", [join(place.path, ".netrc")]);
  expect((await fetchFrom(server.url, place)).hint).toContain("~/.netrc cannot be read (it is no file).");
  const closed = home({ netrc: "machine 127.0.0.1 login you password no" });
  writeFileSync(join(closed.path, ".netrc"), "x".repeat(300_000));
  expect((await fetchFrom(server.url, closed)).hint).toContain(
    "~/.netrc cannot be read (it is larger than 262144 bytes).",
  );
  chmodSync(join(closed.path, ".netrc"), 0o600);
});
