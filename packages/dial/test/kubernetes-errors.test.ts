import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createServer } from "node:net";
import { once } from "node:events";
import { tempDir, writeKubeconfig } from "@steps/testkit";
import { dialKubernetes } from "../src/index.ts";
import type { DialError, KubernetesTarget } from "../src/index.ts";
import { errorOf, greeting, startServer } from "./kubernetes-helpers.ts";

async function failTo(server: { url: string }, target: Partial<KubernetesTarget> = {}): Promise<DialError> {
  const kubeconfig = await writeKubeconfig(server);
  const dial = dialKubernetes({ pod: "job", kubeconfig, command: greeting("cat"), ...target });
  return errorOf(dial(AbortSignal.timeout(20_000)));
}

describe("a refused exec", () => {
  test("is DENIED for 401 and 403, with the server's message", async () => {
    const strict = await startServer({ authorizations: ["Bearer good"] });
    expect(await failTo(strict)).toMatchObject({
      code: "DENIED",
      message: expect.stringContaining("Unauthorized") as string,
    });
    const message = 'pods "job" is forbidden: User "u" cannot create resource "pods/exec"';
    const forbidding = await startServer({ onRequest: () => ({ status: 403, reason: "Forbidden", message }) });
    const error = await failTo(forbidding);
    expect(error).toMatchObject({ code: "DENIED", isPermanent: true });
    expect(error.message).toBe(`Kubernetes refused exec in pod "default/job": ${message}`);
  });

  test("is NOT_FOUND for a pod or a container that is not there", async () => {
    const server = await startServer({ pods: [{ name: "job", containers: ["a", "b"] }] });
    expect(await failTo(server, { pod: "nope" })).toMatchObject({
      code: "NOT_FOUND",
      message: 'Pod "default/nope" does not exist',
    });
    expect(await failTo(server, { namespace: "other" })).toMatchObject({ code: "NOT_FOUND" });
    expect(await failTo(server, { container: "z" })).toMatchObject({
      code: "NOT_FOUND",
      message: 'Pod "default/job" has no container "z"',
      hint: 'It has "a", "b"',
    });
  });

  test("says what to choose from when no container is named", async () => {
    const server = await startServer({ pods: [{ name: "job", containers: ["a", "b"] }] });
    expect(await failTo(server)).toMatchObject({
      code: "ADDRESS_INVALID",
      message: expect.stringContaining("choose one of: [a b]") as string,
    });
  });

  test("is UNREACHABLE for a pod that has not started, NOT_FOUND for one that has ended", async () => {
    const server = await startServer({ pods: [{ name: "job", phase: "Pending" }] });
    expect(await failTo(server)).toMatchObject({
      code: "UNREACHABLE",
      isPermanent: false,
      message: 'Pod "default/job" is not running yet (ContainerCreating)',
    });
    for (const phase of ["Succeeded", "Failed"] as const) {
      server.setPod({ name: "job", phase });
      expect(await failTo(server)).toMatchObject({
        code: "NOT_FOUND",
        message: expect.stringContaining("has ended") as string,
      });
    }
    server.setPod({ name: "job" });
    const kubeconfig = await writeKubeconfig(server);
    const dial = dialKubernetes({ pod: "job", kubeconfig, command: greeting("cat") });
    (await dial(AbortSignal.timeout(20_000))).destroy();
  });

  test("keeps the server's words when the pod may not be asked for", async () => {
    const server = await startServer({
      onRequest: ({ path }) =>
        path.endsWith("/exec") ? { status: 404, message: 'pods "job" not found' } : { status: 403, message: "no" },
    });
    const error = await failTo(server);
    expect(error).toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining('pods "job" not found') as string,
    });
  });

  test("is UNREACHABLE for 5xx, PROTOCOL for a redirect or a page", async () => {
    for (const status of [500, 502, 503, 504, 429]) {
      const server = await startServer({ onRequest: () => ({ status, message: "busy" }) });
      expect(await failTo(server)).toMatchObject({
        code: "UNREACHABLE",
        message: expect.stringContaining("busy") as string,
      });
    }
    for (const status of [200, 302, 418]) {
      const server = await startServer({ onRequest: () => ({ status, message: "page" }) });
      expect(await failTo(server)).toMatchObject({ code: "PROTOCOL" });
    }
  });

  test("is UNREACHABLE where nobody listens, PROTOCOL where no common subprotocol is spoken", async () => {
    const server = await startServer();
    await server.close();
    expect(await failTo(server)).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("ECONNREFUSED") as string,
    });
    const odd = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
      );
    }).listen(0, "127.0.0.1");
    await once(odd, "listening");
    const { port } = odd.address() as { port: number };
    expect(await failTo({ url: `http://127.0.0.1:${port}` })).toMatchObject({ code: "PROTOCOL" });
    odd.close();
  });

  test("asks at most for a name that can be one", async () => {
    const server = await startServer();
    for (const target of [
      { pod: "../x" },
      { pod: "" },
      { pod: "a/b" },
      { namespace: "A" },
      { container: "x y" },
      { command: [] },
    ]) {
      expect(await failTo(server, target)).toMatchObject({ code: "ADDRESS_INVALID" });
    }
    expect(server.requests).toHaveLength(0);
  });
});

describe("the command in the pod", () => {
  const missing = ["exit-code", "status"] as const;

  test.each(missing)("is looked for in the usual places and remembered (%s)", async (missingProgram) => {
    const dir = tempDir();
    const helper = join(dir, "gitlab-runner-helper");
    await writeFile(helper, `#!/bin/sh\n[ "$*" = "steps proxy" ] || exit 2\n${greeting("exec cat")[2]}\n`);
    await chmod(helper, 0o755);
    const server = await startServer({
      pods: [{ name: "job", env: { PATH: `${dir}:/usr/bin:/bin` } }],
      missingProgram,
    });
    const dial = dialKubernetes({ pod: "job", kubeconfig: await writeKubeconfig(server) });
    (await dial(AbortSignal.timeout(20_000))).destroy();
    expect(server.sessions.map(({ argv }) => argv.join(" "))).toEqual([
      "step-runner proxy",
      "/step-runner proxy",
      "/opt/gitlab-runner/gitlab-runner-helper steps proxy",
      "gitlab-runner-helper steps proxy",
    ]);
    (await dial(AbortSignal.timeout(20_000))).destroy();
    expect(server.sessions).toHaveLength(5);
    expect(server.sessions[4]?.argv[0]).toBe("gitlab-runner-helper");
    await writeFile(join(dir, "step-runner"), `#!/bin/sh\n${greeting("exec cat")[2]}\n`);
    await chmod(join(dir, "step-runner"), 0o755);
    await chmod(helper, 0o644);
    (await dial(AbortSignal.timeout(20_000))).destroy();
    expect(server.sessions.slice(5).map(({ argv }) => argv[0])).toEqual(["gitlab-runner-helper", "step-runner"]);
  });

  test.each(missing)("is NO_SERVICE when it is nowhere (%s)", async (missingProgram) => {
    const server = await startServer({ pods: [{ name: "job", env: { PATH: "/nowhere" } }], missingProgram });
    const kubeconfig = await writeKubeconfig(server);
    const error = await errorOf(dialKubernetes({ pod: "job", kubeconfig })(AbortSignal.timeout(20_000)));
    expect(error).toMatchObject({ code: "NO_SERVICE", isPermanent: true });
    expect(error.message).toContain('tried "step-runner proxy", "/step-runner proxy"');
  });

  test("is NO_SERVICE with its stderr when there is no service behind it", async () => {
    const error = await failTo(await startServer(), {
      command: ["sh", "-c", "echo 'dial unix /tmp/x.sock: no such file' >&2; exit 1"],
    });
    expect(error.code).toBe("NO_SERVICE");
    expect(error.message).toMatch(
      /in pod "default\/job" has no service behind it, it ended with exit code 1: dial unix \/tmp\/x/u,
    );
  });

  test("is NO_SERVICE when it ends well without a word, or prints its usage", async () => {
    expect(await failTo(await startServer(), { command: ["true"] })).toMatchObject({ code: "NO_SERVICE" });
    const usage = await failTo(await startServer(), { command: ["sh", "-c", "echo Usage: thing; exit 2"] });
    expect(usage).toMatchObject({
      code: "NO_SERVICE",
      message: expect.stringContaining('printed "Usage: thing"') as string,
    });
  });

  test("is PROTOCOL when it speaks something else and goes on", async () => {
    const error = await failTo(await startServer(), { command: ["sh", "-c", "echo hello; cat"] });
    expect(error).toMatchObject({ code: "PROTOCOL", message: expect.stringContaining('printed "hello"') as string });
  });

  test("is UNREACHABLE when the node cannot run it, or the connection is cut before it speaks", async () => {
    const failing = await startServer({ onExec: () => ({ failure: "error dialing backend: no route to host" }) });
    expect(await failTo(failing)).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("no route") as string,
    });
    const cutting = await startServer({ onExec: () => ({ dropAfterBytes: 3 }) });
    expect(await failTo(cutting)).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("was lost") as string,
    });
  });

  test("is not waited for when it says nothing: the look is left for later", async () => {
    const server = await startServer({ onExec: () => ({ isSilent: true }) });
    const kubeconfig = await writeKubeconfig(server);
    const stream = await dialKubernetes({ pod: "job", kubeconfig, timeoutMs: 2000 })(AbortSignal.timeout(20_000));
    const failed = once(stream, "end").then(
      () => undefined,
      (error: unknown) => error,
    );
    stream.resume();
    server.sessions[0]?.drop();
    expect(await failed).toMatchObject({ code: "UNREACHABLE" });
  });
});
