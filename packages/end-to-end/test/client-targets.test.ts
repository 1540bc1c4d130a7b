import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, startKubernetesServer, startSshServer } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createUser, type User } from "./client-harness.ts";

const MAIN = join(import.meta.dirname, "../../../apps/step-runner/src/main.ts");

// More than one window of HTTP/2, and an end that has to arrive after all of it.
function write(user: User): string {
  const path = join(user.dir, "steps.yml");
  writeFileSync(path, "- name: a\n  script: seq 1 400000; echo done >&2; exit 4\n");
  return path;
}

const EXPECTED = Array.from({ length: 400_000 }, (_, at) => `${at + 1}\n`).join("");

async function expectJob(user: User, target: readonly string[]): Promise<void> {
  const { status, stdout, stderr } = await user.bridge("run", write(user), ...target).ended;
  expect({ status, stderr }).toEqual({ status: 4, stderr: 'done\nrunner-bridge: step "a": exec: exit status 4\n' });
  expect(stdout.toString() === EXPECTED).toBe(true);
  expect((await user.bridge("list", ...target).ended).stdout.toString()).toBe("ID  STATUS  SINCE  EXIT CODE\n");
}

test.skipIf(!hasProgram("sshd", "/usr/sbin"))("a job on a machine, through sshd", async () => {
  const user = createUser();
  await user.serve();
  const sshd = await startSshServer({ config: [`SetEnv STEP_RUNNER_SOCKET=${user.socket}`] });
  onTestFinished(() => sshd.stop());
  const login = ["--ssh", `${sshd.user}@${sshd.host}:${sshd.port}`, "--identity", sshd.identityFile];
  await expectJob(user, [...login, "--known-hosts", sshd.knownHostsFile]);
  await expectJob(user, [...login, "--known-hosts", sshd.knownHostsFile, "--socket", user.socket]);
  const known = join(user.dir, "known_hosts");
  const unknown = await user.bridge("list", ...login, "--known-hosts", known).ended;
  expect(unknown).toMatchObject({ status: 1, stderr: expect.stringContaining("accept-new") });
  expect((await user.bridge("list", ...login, "--known-hosts", known, "--accept-new-host-key").ended).status).toBe(0);
  expect((await user.bridge("list", ...login, "--known-hosts", known).ended).status).toBe(0);
});

test("a job in a pod, by exec", async () => {
  const user = createUser();
  await user.serve();
  await using cluster = await startKubernetesServer({
    pods: [{ namespace: "ci", name: "pod-7", containers: ["build"] }],
  });
  const kubeconfig = join(user.dir, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      "current-context": "test",
      clusters: [{ name: "c", cluster: { server: cluster.url } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
    }),
  );
  const proxy = `'${process.execPath}' --conditions=steps-source '${MAIN}' proxy --socket '${user.socket}'`;
  await expectJob(user, [
    "--kubernetes",
    "ci/pod-7/build",
    "--kubeconfig",
    kubeconfig,
    "--context",
    "test",
    "--proxy",
    proxy,
  ]);
});
