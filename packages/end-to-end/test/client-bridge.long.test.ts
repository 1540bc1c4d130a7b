import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createUser, type User } from "./client-harness.ts";

function write(user: User, text: string): string {
  const path = join(user.dir, "steps.yml");
  writeFileSync(path, text);
  return path;
}

const recordsOf = (user: User): string[] => readdirSync(join(user.dir, ".local/state/runner-bridge/jobs"));

test("runs steps, shows their output, writes trace and results, exits as they do", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(
    user,
    `spec:
  inputs:
    count: { type: number }
---
run:
  - name: show
    script: echo "\${{ inputs.count + 1 }} $GREETING \${{ vars.SECRET }} plain"; echo oops >&2
  - name: fail
    script: exit 3
`,
  );
  const inputs = ["--env", "GREETING=hello", "--inputs", "count=41", "--masked-variable", "SECRET=hunter2hunter2"];
  const files = ["--work-dir", ".", "--output-file", "trace.json", "--step-results-file", "results.json"];
  const { ended } = user.bridge("run", steps, ...inputs, "--mask", "plain", ...files);
  const { status, stdout, stderr } = await ended;
  expect(stdout.toString()).toBe("42 hello [MASKED] [MASKED]\n");
  expect(stderr).toBe(`oops\nrunner-bridge: step "fail": exec: exit status 3\n`);
  expect(status).toBe(3);
  const trace = JSON.parse(readFileSync(join(user.dir, "trace.json"), "utf8")) as { request: { workDir: string } };
  expect(trace.request.workDir).toBe(user.dir);
  expect(readFileSync(join(user.dir, "trace.json"), "utf8")).not.toContain("hunter2");
  expect(JSON.parse(readFileSync(join(user.dir, "results.json"), "utf8"))).toMatchObject({ status: "failure" });
  // It was closed: the service and we have forgotten it.
  expect((await user.bridge("list").ended).stdout.toString()).toBe("ID  STATUS  SINCE  EXIT CODE\n");
  expect(recordsOf(user)).toEqual([]);
});

test("grants the secrets that a flag names to the steps that ask for them", async () => {
  const user = createUser();
  await user.serve();
  const spec = "spec: {secrets: {token: {env: TOKEN}, key: {as: file}}}";
  mkdirSync(join(user.dir, "push"));
  writeFileSync(
    join(user.dir, "push/step.yml"),
    `${spec}\n---\nexec: {command: [sh, -c, 'echo "$TOKEN" \${#TOKEN}; cat $KEY']}\n`,
  );
  writeFileSync(join(user.dir, "key"), "the-secret-key\n");
  const steps = write(user, "- {name: a, step: ./push, secrets: [token, key]}\n");
  const secrets = ["--secret", "token=hunter2hunter2", "--secret", "key=file:key"];
  const ran = await user.bridge("run", steps, "--work-dir", ".", ...secrets).ended;
  expect(ran.stdout.toString()).toBe("[MASKED] 14\n[MASKED]");
  expect(ran.status).toBe(0);
  const without = await user.bridge("run", steps, "--work-dir", ".", ...secrets.slice(0, 2)).ended;
  expect(without.stderr).toContain('"key"');
  expect(without.status).not.toBe(0);
});

test("what is wrong with the steps is shown as the service says it, exit code 2", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "- name: a\n  scrip: echo\n- nmae: b\n  script: echo\n");
  const { status, stdout, stderr } = await user.bridge("run", steps).ended;
  expect(status).toBe(2);
  expect(stdout.toString()).toBe("");
  expect(stderr).toMatch(/^.*steps\.yml:2:3/m);
  expect(stderr).toContain("nmae");
  expect(stderr).not.toContain("runner-bridge:");
});

test("a job that was left is followed from another process, and only by its user", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "- name: a\n  script: echo one; until test -e go; do sleep 0.05; done; echo two\n");
  const id = (await user.bridge("run", steps, "--detach", "--work-dir", ".").ended).stdout.toString().trim();
  expect(recordsOf(user)).toHaveLength(1);
  const record = join(user.dir, ".local/state/runner-bridge/jobs", recordsOf(user)[0] as string);
  expect(statSync(record).mode & 0o777).toBe(0o600);
  expect(statSync(join(record, "..")).mode & 0o777).toBe(0o700);
  const list = JSON.parse((await user.bridge("list", "--format", "json").ended).stdout.toString()) as { id: string }[];
  expect(list.map((job) => job.id)).toEqual([id]);

  const other = await user.bridge("follow", id, "--token", "guessed").ended;
  expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining("The token is not that of job") });

  const follower = user.bridge("follow", id);
  await follower.until("stdout", "one\n");
  writeFileSync(join(user.dir, "go"), "");
  expect(await follower.ended).toMatchObject({ status: 0, stdout: Buffer.from("one\ntwo\n") });
  expect((await user.bridge("list").ended).stdout.toString()).toMatch(new RegExp(`^${id} +success +\\S+Z +0$`, "m"));
  expect((await user.bridge("close", id).ended).status).toBe(0);
  expect(recordsOf(user)).toEqual([]);
  expect(await user.bridge("follow", id).ended).toMatchObject({
    status: 1,
    stderr: `runner-bridge: The service has no job "${id}"\n`,
  });
});

test("a bridge that is killed is followed by another with the same id, and the job runs once", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(
    user,
    "- name: a\n  script: echo run >>runs; echo one; until test -e go; do sleep 0.05; done; echo two\n",
  );
  const args = ["run", steps, "--id", "build-42", "--work-dir", "."];
  const first = user.bridge(...args);
  await first.until("stdout", "one\n");
  first.child.kill("SIGKILL");
  await first.ended;
  const second = user.bridge(...args);
  await second.until("stdout", "one\n");
  writeFileSync(join(user.dir, "go"), "");
  expect(await second.ended).toMatchObject({ status: 0, stdout: Buffer.from("one\ntwo\n") });
  expect(readFileSync(join(user.dir, "runs"), "utf8")).toBe("run\n");
  // Closed, the id is free again.
  expect((await user.bridge(...args).ended).status).toBe(0);
  expect(readFileSync(join(user.dir, "runs"), "utf8")).toBe("run\nrun\n");
});

test("a job that finds no free place says so once, and runs when there is one", async () => {
  const user = createUser();
  await user.serve("--max-jobs", "1");
  const steps = write(user, "- name: a\n  script: until test -e go; do sleep 0.05; done; echo ran\n");
  expect((await user.bridge("run", steps, "--id", "first", "--work-dir", ".", "--detach").ended).status).toBe(0);
  const second = user.bridge("run", steps, "--id", "second", "--work-dir", ".");
  await second.until("stderr", "Waiting for a free place");
  writeFileSync(join(user.dir, "go"), "");
  const { status, stdout, stderr } = await second.ended;
  expect([status, stdout.toString()]).toEqual([0, "ran\n"]);
  expect(stderr.trim().split("\n")).toEqual([
    "runner-bridge: Waiting for a free place: the service runs as many jobs as it may",
    "runner-bridge: Job second runs",
  ]);
});

test("Ctrl-C in follow leaves the job alone and says so", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "- name: a\n  script: echo one; until test -e go; do sleep 0.05; done; echo two\n");
  expect((await user.bridge("run", steps, "--id", "b", "--detach", "--work-dir", ".").ended).status).toBe(0);
  const pressed = user.bridge("follow", "b");
  await pressed.until("stdout", "one\n");
  pressed.child.kill("SIGINT");
  const { status, stdout, stderr } = await pressed.ended;
  expect([status, stdout.toString()]).toEqual([130, "one\n"]);
  expect(stderr).toContain('The job "b" goes on');
  expect(stderr).toContain("hint: Follow it again: runner-bridge follow b; end it: runner-bridge cancel b\n");
  writeFileSync(join(user.dir, "go"), "");
  expect(await user.bridge("follow", "b").ended).toMatchObject({ status: 0, stdout: Buffer.from("one\ntwo\n") });
});

test("a job that is larger than a service takes is refused at once", async () => {
  const user = createUser();
  const steps = write(user, `# ${"x".repeat(70 * 1024 * 1024)}\n- {name: a, script: "true"}\n`);
  const { status, stderr } = await user.bridge("run", steps).ended;
  expect(status).toBe(2);
  expect(stderr).toContain("The job has 70.0 MiB, and a service takes 64 MiB");
});

test("Ctrl-C cancels the job and follows it to its end; cancel does so from elsewhere", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(
    user,
    `- name: a\n  script: trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done\n`,
  );
  const pressed = user.bridge("run", steps);
  await pressed.until("stdout", "up\n");
  pressed.child.kill("SIGINT");
  expect(await pressed.ended).toMatchObject({ status: 130, stdout: Buffer.from("up\nbye\n") });
  const cancelled = user.bridge("run", steps, "--id", "b");
  await cancelled.until("stdout", "up\n");
  expect((await user.bridge("cancel", "b").ended).status).toBe(0);
  expect(await cancelled.ended).toMatchObject({ status: 143, stdout: Buffer.from("up\nbye\n") });
});

test("who asks twice leaves at once, and the job is ended", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, `- name: a\n  script: trap '' TERM; echo up; while :; do sleep 0.05; done\n`);
  const bridge = user.bridge("run", steps, "--grace", "6s", "--verbose");
  await bridge.until("stdout", "up\n");
  bridge.child.kill("SIGTERM");
  await bridge.until("stderr", "Cancelling job");
  bridge.child.kill("SIGTERM");
  const { status, stderr } = await bridge.ended;
  expect(status).toBe(143);
  expect(stderr).toMatch(/The end of job ".*" was not waited for\n$/);
  await expect
    .poll(async () => (await user.bridge("list").ended).stdout.toString(), { interval: 500 })
    .toBe("ID  STATUS  SINCE  EXIT CODE\n");
});

test("without a service it says where it looked", async () => {
  const user = createUser();
  const { status, stderr } = await user.bridge("list").ended;
  expect(stderr).toMatch(/There is no connection to the service: .*step-runner\.sock.*\n {2}hint: Start the service/s);
  expect(status).toBe(1);
});

test("an id that another job has, or had, is not taken for ours", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "- name: a\n  script: echo one\n");
  const args = ["run", steps, "--id", "a"];
  expect((await user.bridge(...args, "--detach").ended).status).toBe(0);
  const record = join(user.dir, ".local/state/runner-bridge/jobs", recordsOf(user)[0] as string);
  const text = readFileSync(record, "utf8");
  // As another user, who knows nothing of the job.
  rmSync(record);
  const other = await user.bridge(...args).ended;
  expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining('The service refused job "a"') });
  expect(recordsOf(user)).toEqual([]);
  // Closed elsewhere: what we know of it is of no use any more, and the next run is a new job.
  const { token } = JSON.parse(text) as { token: string };
  expect((await user.bridge("close", "a", "--token", token).ended).status).toBe(0);
  writeFileSync(record, text);
  expect((await user.bridge(...args).ended).status).toBe(1);
  expect(recordsOf(user)).toEqual([]);
  expect(await user.bridge(...args).ended).toMatchObject({ status: 0, stdout: Buffer.from("one\n") });
});

test("a command whose standard input and output are the connection", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "- name: a\n  script: echo one\n");
  const main = join(import.meta.dirname, "../../../apps/step-runner/src/main.ts");
  const command = `'${process.execPath}' --conditions=steps-source '${main}' proxy`;
  expect(await user.bridge("run", steps, "--command", command).ended).toMatchObject({
    status: 0,
    stdout: Buffer.from("one\n"),
    stderr: "",
  });
  const missing = await user.bridge("run", steps, "--command", "no-such-program-anywhere").ended;
  expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining("no-such-program-anywhere") });
});
