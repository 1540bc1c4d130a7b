import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { hasProgram, type SshServer, type SshServerOptions, sshKey, startSshServer, tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSshDialer, type SshOptions } from "../src/index.ts";
import { echo, startService } from "./ssh-service.ts";

const never = new AbortController().signal;
const containing = (text: string): string => expect.stringContaining(text) as string;

/** An sshd with a service behind it. */
async function sshd(options?: SshServerOptions): Promise<SshServer> {
  const server = await startSshServer(options);
  onTestFinished(() => server.stop());
  const service = await startService(join(server.dir, "s.sock"), echo);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return server;
}

/** Dials once, and hangs up. */
async function dial(server: SshServer, options: Partial<SshOptions> = {}): Promise<void> {
  await using dialer = createSshDialer({
    host: server.host,
    port: server.port,
    user: server.user,
    identityFiles: [server.identityFile],
    knownHostsFiles: [server.knownHostsFile],
    agent: false,
    socket: join(server.dir, "s.sock"),
    connectTimeoutMs: 20_000,
    ...options,
  });
  await dialer.dial(never);
}

/** A real agent without keys. */
async function startAgent(): Promise<string> {
  const path = join(tempDir(), "agent");
  const agent = spawn("ssh-agent", ["-D", "-a", path], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void agent.kill("SIGKILL"));
  await once(agent.stdout, "data");
  return path;
}

function addToAgent(agent: string, key: string): void {
  execFileSync("ssh-add", ["-q", key], { env: { ...process.env, SSH_AUTH_SOCK: agent }, stdio: "pipe" });
}

describe.skipIf(!hasProgram("sshd", "/usr/sbin"))("the host's key", () => {
  test("refuses a host that is not known, with its fingerprint and what to do", async () => {
    const server = await sshd();
    const knownHostsFiles = [join(server.dir, "none")];
    const shown = execFileSync("ssh-keygen", ["-l", "-f", join(server.dir, "host_key.pub")], { encoding: "utf8" });
    await expect(dial(server, { knownHostsFiles })).rejects.toMatchObject({
      code: "DENIED",
      isPermanent: true,
      message: containing(`is not known: it shows the ssh-ed25519 key ${shown.split(" ")[1]}`),
      hint: containing(`ssh-keyscan -p ${server.port} 127.0.0.1 >> ${server.dir}/none`),
    });
    expect(existsSync(join(server.dir, "none"))).toBe(false);
  });

  test("takes the line that ssh-keyscan writes, also hashed", async () => {
    const server = await sshd();
    const file = join(server.dir, "scanned");
    for (const flags of [[], ["-H"]]) {
      const args = [...flags, "-p", String(server.port), "127.0.0.1"];
      writeFileSync(file, execFileSync("ssh-keyscan", args, { stdio: ["ignore", "pipe", "ignore"] }));
      await dial(server, { knownHostsFiles: ["/nowhere/known_hosts", file] });
    }
    expect(readFileSync(file, "utf8")).toMatch(/^\|1\|/m);
  });

  test("adds a new host where that is wanted, and refuses it once its key has changed", async () => {
    const server = await sshd();
    const file = join(server.dir, "new/known_hosts");
    const options = { knownHostsFiles: [file], strictHostKey: "accept-new" } as const;
    await dial(server, options);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "# without a line end");
    await dial(server, options);
    await dial(server, options);
    expect(readFileSync(file, "utf8")).toBe(`# without a line end\n[127.0.0.1]:${server.port} ${server.hostKey}\n`);
    await server.stop();
    const other = await sshd({ port: server.port, hostKeyType: "ecdsa" });
    for (const strictHostKey of ["yes", "accept-new"] as const) {
      await expect(dial(other, { knownHostsFiles: [file], strictHostKey })).rejects.toMatchObject({
        code: "DENIED",
        message: containing(`HAS CHANGED`),
        hint: containing(`ssh-keygen -R '[127.0.0.1]:${server.port}' -f ${file}`),
      });
    }
    // The command that the hint recommends works.
    execFileSync("ssh-keygen", ["-R", `[127.0.0.1]:${server.port}`, "-f", file], { stdio: "pipe" });
    await dial(other, options);
  });

  test("does not accept a new host that cannot be written down", async () => {
    const server = await sshd();
    const options = { knownHostsFiles: ["/proc/known_hosts"], strictHostKey: "accept-new" } as const;
    await expect(dial(server, options)).rejects.toMatchObject({ code: "DENIED", message: containing("Cannot add") });
  });

  test.each(["ed25519", "ecdsa", "rsa"] as const)("asks for the key that is known: %s", async (hostKeyType) => {
    const server = await startSshServer({ config: [] });
    await server.stop();
    const key = await sshKey(server.dir, { name: `second_${hostKeyType}`, type: hostKeyType });
    const both = await sshd({ config: [`HostKey ${key}`] });
    const [type, base64] = readFileSync(`${key}.pub`, "utf8").split(" ");
    writeFileSync(both.knownHostsFile, `[127.0.0.1]:${both.port} ${type} ${base64}\n`);
    await dial(both);
  });

  test("refuses keys that are revoked, and says that certificates are not supported", async () => {
    const server = await sshd();
    const known = readFileSync(server.knownHostsFile, "utf8");
    writeFileSync(server.knownHostsFile, `${known}@revoked * ${server.hostKey}\n`);
    await expect(dial(server)).rejects.toMatchObject({ code: "DENIED", message: containing("revoked") });
    writeFileSync(server.knownHostsFile, `@cert-authority [127.0.0.1]:* ${server.hostKey}\n`);
    await expect(dial(server)).rejects.toMatchObject({
      code: "DENIED",
      message: containing(`certificate authority, which is not supported (${server.knownHostsFile}:1)`),
    });
  });
});

describe.skipIf(!hasProgram("sshd", "/usr/sbin"))("logging in", () => {
  test("says whose keys are not taken", async () => {
    const server = await sshd();
    const wrong = await sshKey(server.dir, { name: "wrong" });
    await expect(dial(server, { identityFiles: [wrong] })).rejects.toMatchObject({
      code: "DENIED",
      isPermanent: true,
      message: containing(`takes none of the keys of '${server.user}'`),
    });
    await dial(server, { identityFiles: [wrong, server.identityFile] });
    await expect(dial(server, { identityFiles: ["/nowhere/id"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each([["rsa"], ["ecdsa"]])("logs in with a key of the type %s", async (type) => {
    const server = await sshd();
    const key = await sshKey(server.dir, { name: "other", type });
    copyFileSync(`${key}.pub`, join(server.dir, "authorized_keys"));
    await dial(server, { identityFiles: [key] });
  });

  test("needs an agent or the passphrase for a key that is encrypted", async () => {
    const server = await sshd();
    const key = await sshKey(server.dir, { name: "locked", passphrase: "open sesame" });
    copyFileSync(`${key}.pub`, join(server.dir, "authorized_keys"));
    await expect(dial(server, { identityFiles: [key] })).rejects.toMatchObject({
      code: "DENIED",
      message: containing("is encrypted: it needs an agent (ssh-add) or a passphrase"),
    });
    const wrong = dial(server, { identityFiles: [key], passphrase: "close sesame" });
    await expect(wrong).rejects.toMatchObject({ code: "DENIED", message: containing("does not open the key") });
    await expect(wrong).rejects.not.toMatchObject({ message: containing("sesame") });
    await dial(server, { identityFiles: [key], passphrase: "open sesame" });
  });

  test("logs in with an agent, also past keys that are not taken", async () => {
    const server = await sshd();
    const agent = await startAgent();
    for (const name of ["a", "b"]) addToAgent(agent, await sshKey(server.dir, { name }));
    await expect(dial(server, { agent, identityFiles: [] })).rejects.toMatchObject({ code: "DENIED" });
    addToAgent(agent, server.identityFile);
    await dial(server, { agent, identityFiles: [] });
    // An agent with more keys than the server tries does not stand in the way of the one that is named.
    for (const name of ["c", "d", "e", "f", "g", "h"]) addToAgent(agent, await sshKey(server.dir, { name }));
    execFileSync("ssh-add", ["-q", "-d", server.identityFile], {
      env: { ...process.env, SSH_AUTH_SOCK: agent },
      stdio: "pipe",
    });
    await dial(server, { agent });
    await expect(dial(server, { agent, identityFiles: [] })).rejects.toMatchObject({ code: "DENIED" });
  });

  test("passes over an agent that is gone", async () => {
    const server = await sshd();
    const wrong = await sshKey(server.dir, { name: "wrong" });
    await dial(server, { agent: "/nowhere/agent" });
    await expect(dial(server, { agent: "/nowhere/agent", identityFiles: [wrong] })).rejects.toMatchObject({
      code: "DENIED",
      message: containing("The agent: Failed to connect to agent"),
    });
  });

  test("reads the configuration of ssh when it is told to", async () => {
    const server = await sshd();
    const home = tempDir();
    const config = join(home, "config");
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(
      config,
      `Host build
         HostName 127.0.0.1
         Port ${server.port}
         User ${server.user}
         IdentityFile ${server.identityFile}
         UserKnownHostsFile ${server.knownHostsFile}
         GlobalKnownHostsFile none
         IdentityAgent none
       Host alias
         HostName 127.0.0.1
         Port ${server.port}
         HostKeyAlias The-Alias
         User ${server.user}
         IdentityFile ${server.identityFile}
         UserKnownHostsFile ${server.dir}/alias
       Host hop
         ProxyJump build\n`,
    );
    // The program itself, with this file instead of the one in the home of whoever runs the tests.
    const ssh = execFileSync("sh", ["-c", "command -v ssh"], { encoding: "utf8" }).trim();
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${ssh} -F ${config} "$@"\n`, { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${bin}:${path}`;
    onTestFinished(() => void (process.env["PATH"] = path));
    const socket = join(server.dir, "s.sock");
    await using dialer = createSshDialer({ host: "build", usesSshConfig: true, socket });
    await dialer.dial(never);
    writeFileSync(join(server.dir, "alias"), `the-alias ${server.hostKey}\n`);
    await using alias = createSshDialer({ host: "alias", usesSshConfig: true, socket });
    await alias.dial(never);
    await using hop = createSshDialer({ host: "hop", usesSshConfig: true, socket });
    await expect(hop.dial(never)).rejects.toMatchObject({
      code: "ADDRESS_INVALID",
      message: containing("by way of 'build'"),
    });
  });
});

describe.skipIf(!hasProgram("sshd", "/usr/sbin"))("hosts that are not as they should be", () => {
  async function listen(onSocket: (socket: Socket) => void): Promise<number> {
    const server = createServer(onSocket).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  test("nobody there, silence, another protocol, an end", async () => {
    const server = await sshd();
    const { promise: hungUp, resolve } = Promise.withResolvers<void>();
    const silent = await listen((socket) => void socket.resume().once("close", resolve));
    const web = await listen((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const closed = await listen((socket) => socket.end());
    await expect(dial(server, { port: silent, connectTimeoutMs: 1000 })).rejects.toMatchObject({ code: "UNREACHABLE" });
    await hungUp;
    await expect(dial(server, { port: web })).rejects.toMatchObject({ code: "UNREACHABLE" });
    await expect(dial(server, { port: closed })).rejects.toMatchObject({ code: "UNREACHABLE" });
    await server.stop();
    await expect(dial(server)).rejects.toMatchObject({ code: "UNREACHABLE", message: containing("ECONNREFUSED") });
  });

  test("a shell that talks before its command, and one that never stops", async () => {
    const runtime = tempDir();
    const service = await startService(join(runtime, "step-runner/step-runner.sock"), echo);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const noise = 'ForceCommand echo "Welcome to the machine"; eval "$SSH_ORIGINAL_COMMAND"';
    await dial(await sshd({ config: [noise, `SetEnv XDG_RUNTIME_DIR=${runtime}`] }), { socket: undefined });
    const flood = await sshd({ config: ["ForceCommand exec cat /dev/zero"] });
    await expect(dial(flood, { socket: undefined })).rejects.toMatchObject({ code: "NO_SERVICE" });
    const paths = ["XDG_RUNTIME_DIR=relative", `STEP_RUNNER_SOCKET=/${"x".repeat(200)}`].join(" ");
    const odd = await sshd({ config: [`SetEnv ${paths} HOME=${runtime} PATH=/usr/bin:/bin`] });
    await expect(dial(odd, { socket: undefined })).rejects.toMatchObject({
      code: "NO_SERVICE",
      message: expect.not.stringContaining("xxx") as string,
    });
  });

  test("does not trust a socket that another user put where all may write", async () => {
    const shared = tempDir();
    const service = await startService(join(shared, "step-runner.sock"), echo);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const server = await sshd({
      config: [`SetEnv TMPDIR=${shared} XDG_RUNTIME_DIR=${shared}/none PATH=/usr/bin:/bin`],
    });
    await dial(server, { socket: undefined });
    if (process.getuid?.() !== 0) return;
    execFileSync("chown", ["12345", service.path]);
    await expect(dial(server, { socket: undefined })).rejects.toMatchObject({
      message: expect.not.stringContaining(service.path) as string,
    });
    await dial(server, { socket: service.path });
  });

  test.each([
    [{ host: "-oProxyCommand=x" }],
    [{ host: "" }],
    [{ host: "a b" }],
    [{ host: "h", user: "-l" }],
    [{ host: "h", port: 70_000 }],
    [{ host: "h", socket: "relative.sock" }],
    [{ host: "h", socket: `/${"x".repeat(108)}` }],
    [{ host: "h", proxyCommand: [] }],
    [{ host: "h", proxyCommand: ["a\0b"] }],
  ])("refuses %j", (options) => {
    expect(() => createSshDialer(options)).toThrow(expect.objectContaining({ code: "ADDRESS_INVALID" }) as Error);
  });
});
