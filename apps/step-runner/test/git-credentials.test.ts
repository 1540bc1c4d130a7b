import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createCertificates, snapshot } from "@steps/testkit";
import { expect, test } from "vitest";
import { createWorld, type World } from "./harness.ts";

const NETRC = "machine 127.0.0.1 login you password s3cret-token\n";

/** A server that wants credentials and takes none, and the environment of those who ask it. */
async function startRefusing(world: World): Promise<
  AsyncDisposable & {
    readonly reference: string;
    readonly env: Readonly<Record<string, string>>;
    /** The headers with credentials that came since the last call. */
    sent(): readonly string[];
  }
> {
  const { ca, server: certificate } = await createCertificates();
  const authority = join(world.dir, "ca.pem");
  writeFileSync(authority, ca.cert);
  const seen: string[] = [];
  const server = createServer(certificate, ({ headers }, response) => {
    if (headers.authorization !== undefined) seen.push(headers.authorization);
    response.writeHead(401, { "www-authenticate": "Basic" }).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    reference: `https://127.0.0.1:${port}/private/tools@main`,
    env: { GIT_SSL_CAINFO: authority, NODE_EXTRA_CA_CERTS: authority, GIT_CONFIG_NOSYSTEM: "1" },
    sent: () => seen.splice(0),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => void server.close(() => closed()));
    },
  };
}

test("a developer's command uses the credentials of git, and ci only if it is asked to", async () => {
  const world = createWorld();
  writeFileSync(join(world.dir, "home/.netrc"), NETRC);
  await using server = await startRefusing(world);
  const { reference, env } = server;
  const steps = JSON.stringify([{ name: "a", step: reference }]);
  writeFileSync(join(world.work, "steps.yml"), steps);
  const header = `Basic ${Buffer.from("you:s3cret-token").toString("base64")}`;

  for (const git of ["system", "isomorphic"]) {
    const ran = await world.run(["run", "steps.yml", "--git", git], { env });
    expect([git, ran.code, server.sent()]).toEqual([git, 1, [header]]);
    expect(ran.stderr).toContain("the server did not take the credentials of ~/.netrc");
  }

  const inCi = await world.ci(steps, [], { env });
  expect(server.sent()).toEqual([]);
  expect(inCi.stderr).toContain("STEP_RUNNER_GIT_CREDENTIALS=user");

  await world.ci(steps, [], { env: { ...env, STEP_RUNNER_GIT_CREDENTIALS: "user" } });
  expect(server.sent()).toEqual([header]);

  await world.run(["run", "steps.yml", "--git-credentials", "none"], { env });
  expect(server.sent()).toEqual([]);

  const archive = JSON.stringify([{ name: "a", step: reference.replace("@main", ".zip") }]);
  writeFileSync(join(world.work, "archive.yml"), archive);
  const run = await world.run(["run", "archive.yml"], { env });
  expect([server.sent(), run.stderr]).toEqual([[header], expect.stringContaining("did not take the credentials")]);
  expect((await world.ci(archive, [], { env })).stderr).toContain("STEP_RUNNER_GIT_CREDENTIALS=user");
  expect(server.sent()).toEqual([]);

  const kept = JSON.stringify([snapshot(world.stateDir), snapshot(world.cacheDir)]);
  expect(kept).toContain("did not take the credentials of ~/.netrc");
  expect(kept).not.toMatch(/s3cret|eW91OnMzY3JldC10b2tlbg/);
});

test("ci starts no helper that a step before it has configured", async () => {
  const world = createWorld();
  await using server = await startRefusing(world);
  const { reference, env } = server;
  const canary = join(world.dir, "canary");
  const config = `[credential]\n\thelper = "!touch ${canary}; true"\n`;
  const script = `cat > ${join(world.dir, "home/.gitconfig")} <<'END'\n${config}END`;
  const steps = JSON.stringify([
    { name: "write", script },
    { name: "fetch", step: reference },
  ]);
  const ended = await world.ci(steps, [], { env });
  expect(ended.stderr).toContain("access was denied");
  expect(existsSync(canary)).toBe(false);
  // The same file is read where it is asked for: the helper is one that works.
  await world.ci(steps, ["--git-credentials", "user"], { env });
  expect(existsSync(canary)).toBe(true);
});

test("doctor says which servers there are credentials for, and no secret", async () => {
  const world = createWorld();
  const env = { GIT_CONFIG_NOSYSTEM: "1" };
  const finding = async (more: Record<string, string> = {}): Promise<unknown> => {
    const { stdout } = await world.run(["doctor", "--report", "json"], { env: { ...env, ...more } });
    expect(stdout).not.toContain("s3cret");
    const { findings } = JSON.parse(stdout) as { findings: { name: string; found: string; meaning: string }[] };
    return findings.find(({ name }) => name === "credentials");
  };
  expect(await finding()).toMatchObject({
    state: "ok",
    found: "no .netrc; credential helpers of git: none",
    meaning: "Private repositories over https need credentials in the reference, or a mirror.",
  });
  writeFileSync(join(world.dir, "home/.netrc"), `${NETRC}default login a password b`);
  const config = `[credential]
\thelper = "!f() { echo password=s3cret; }; f"
\thelper = store --file /s3cret
\thelper = !/usr/bin/gh auth git-credential
[url "https://x:s3cret@git.example.com/"]
\tinsteadOf = https://git.example.com/
`;
  writeFileSync(join(world.dir, "home/.gitconfig"), config);
  expect(await finding()).toMatchObject({
    found: "~/.netrc: 127.0.0.1; credential helpers of git: a command of the shell, store, gh",
    meaning: expect.stringContaining(
      "ci and serve do so with --git-credentials user only. What git's configuration says",
    ),
  });
  expect(await finding({ STEP_RUNNER_GIT_CREDENTIALS: "none" })).toMatchObject({
    meaning: expect.stringContaining("They are not used, because STEP_RUNNER_GIT_CREDENTIALS is none."),
  });
});
