import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, isRunning } from "@steps/testkit";
import { hasRegistry, startRegistry } from "@steps/testkit/image-registry";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { busyboxRoot, findBusybox } from "./busybox-root.ts";
import { createContainers, hasDocker } from "./containers.ts";
import { COMMAND, createWorld, processesWith, readTrace, until, type World } from "./harness.ts";

const TEST_MS = 120_000;
const APPLETS = ["cat", "chown", "echo", "env", "id", "mkdir", "nc", "seq", "sleep", "stat", "touch", "true", "wc"];

const containers = createContainers();
const busybox = findBusybox();
const isPossible = hasProgram("docker") && busybox !== undefined && hasDocker();
const images = { plain: "", service: "", entry: "" };

beforeAll(() => {
  if (!isPossible) return;
  const root = busyboxRoot(busybox as string, APPLETS);
  const entry = '#!/bin/sh\necho entered >/tmp/entered\nexec "$@"\n';
  writeFileSync(join(root, "bin/enter"), entry, { mode: 0o755 });
  images.plain = containers.importImage("plain", root, ["ENV JAVA_HOME=/java"]);
  const answer = 'CMD ["sh", "-c", "while :; do echo hello from $WHO | nc -l -p 7000; done"]';
  images.service = containers.importImage("group/service:1", root, ["EXPOSE 7000/tcp 53/udp", answer]);
  images.entry = containers.importImage("entry", root, ['ENTRYPOINT ["/bin/enter"]', "USER 1234:1234"]);
});
afterAll(() => containers.remove());

/** A file with one job `test`, or with what is given besides. */
function write(world: World, job: object, besides: object = {}): void {
  writeFileSync(join(world.work, ".gitlab-ci.yml"), JSON.stringify({ test: job, ...besides }));
}

function local(world: World, ...args: readonly string[]): ReturnType<World["run"]> {
  return world.run(["local", "--in-place", ...args]);
}

/** Names of containers and networks that belong to jobs with this state directory: their ids are in the folders there. */
function left({ stateDir }: World): readonly string[] {
  const dir = join(stateDir, "containers");
  return existsSync(dir) ? readdirSync(dir) : [];
}

function idOf(world: World): string {
  const [folder = ""] = left(world);
  return (JSON.parse(readFileSync(join(world.stateDir, "containers", folder, "record.json"), "utf8")) as { id: string })
    .id;
}

function docker(...args: readonly string[]): string {
  return spawnSync("docker", args, { encoding: "utf8" }).stdout.trim();
}

/** Containers and networks with the label of a job. */
function ofJob(id: string): string {
  const filter = `--filter=label=steps.job=${id}`;
  return docker("ps", "--all", "--quiet", filter) + docker("network", "ls", "--quiet", filter);
}

describe.skipIf(!isPossible)("a job with an image", { timeout: TEST_MS }, () => {
  test("runs in a container of it, as GitLab's users expect: builds directory, environment, exit code, files", async () => {
    const world = createWorld();
    const script = ['echo "$CI_JOB_IMAGE $CI_PROJECT_DIR $JAVA_HOME ${HOME}"', "pwd >made", "exit 3"];
    write(world, { image: { name: "$IMAGE" }, script });
    const ended = await local(world, "--variable", `IMAGE=${images.plain}`, "--output-file", "t.json", "--quiet");
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("exit status 3") });
    expect(ended.stdout).toContain(`\n${images.plain} /builds/work /java /\n`);
    expect(readFileSync(join(world.work, "made"), "utf8")).toBe("/builds/work\n");
    const { notes = [], root } = await readTrace(join(world.work, "t.json"));
    expect(notes).toContainEqual(expect.stringContaining(`The job runs in a container of ${images.plain}: sha256:`));
    expect(root?.det?.status).toBe("failure");
    expect(left(world)).toEqual([]);
  });

  test("hands on output of many megabytes whole", async () => {
    const world = createWorld();
    write(world, { image: images.plain, script: ["seq 1000000"] });
    const ended = await local(world, "--quiet");
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const numbers = ended.stdout.split("\n").filter((line) => /^\d+$/.test(line));
    expect(numbers.length).toBe(1_000_000);
    expect(numbers.every((line, i) => line === String(i + 1))).toBe(true);
  });

  test("masks secrets in what it prints and in the trace", async () => {
    const world = createWorld();
    write(world, { image: images.plain, script: ['echo "token $TOKEN"'] });
    const args = ["--variable", "TOKEN=hidden-hidden", "--mask-variable", "TOKEN", "--output-file", "t.json"];
    expect((await local(world, ...args)).stdout).toContain("token [MASKED]\n");
    expect(readFileSync(join(world.work, "t.json"), "utf8")).not.toContain("hidden-hidden");
  });

  test("finds its services by all of their names once they answer, each with its variables", async () => {
    const world = createWorld();
    const hosts = ["db", "other", images.service.replace(":1", "").replace("/", "__")];
    write(world, {
      image: images.plain,
      variables: { WHO: "nobody" },
      services: [{ name: images.service, alias: "db, other", variables: { WHO: "the $CI_JOB_NAME" } }],
      // The service answers one after the other, and hangs up on who has already got through behind another.
      script: hosts.map(
        (host) => `until said=$(nc ${host} 7000 2>/dev/null) && [ "$said" ]; do sleep 0.1; done; echo "$said"`,
      ),
    });
    const { code, stdout, stderr } = await local(world);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Waiting for services") });
    expect(stdout.match(/^hello from the test$/gm)).toHaveLength(hosts.length);
    expect(stderr).not.toContain("did not start");
  });

  test("is warned of a service that has ended, with the end of its log, and runs", async () => {
    const world = createWorld();
    const service = { name: images.service, alias: "db", command: ["sh", "-c", "echo no space left; exit 1"] };
    write(world, { image: images.plain, services: [service], script: ["echo ran"] });
    const { code, stdout, stderr } = await local(world, "--output-file", "t.json");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "$ echo ran\nran\n" });
    expect(stderr).toMatch(/did not start properly[^]*no space left/);
    expect(JSON.stringify((await readTrace(join(world.work, "t.json"))).notes)).toContain("no space left");
  });

  test("starts by the entry point of the image, or by that of the job, as the user that either names", async () => {
    const world = createWorld();
    chmodSync(world.work, 0o777);
    const script = ["cat /tmp/entered || echo not entered", "id -u"];
    write(world, { image: images.entry, script });
    expect((await local(world)).stdout).toMatch(/\nentered\n[^]*\n1234\n/);
    write(world, { image: { name: images.entry, entrypoint: [""], docker: { user: "0" } }, script });
    expect((await local(world)).stdout).toMatch(/not entered\n[^]*\n0\n/);
    const shell = ["/bin/sh", "-c", 'echo by hand >/tmp/entered; exec "$0" "$@"'];
    write(world, { image: { name: images.plain, entrypoint: shell }, script });
    expect((await local(world)).stdout).toContain("\nby hand\n");
    // One that drops the command: the program finds it in a variable.
    write(world, {
      image: { name: images.plain, entrypoint: ["/bin/sh", "-c", "exec /.step-runner/bin/step-runner"] },
      script,
    });
    expect((await local(world)).stdout).toContain("not entered\n");
    write(world, { image: { name: images.plain, entrypoint: ["/bin/echo", "never"] }, script });
    const ended = await local(world, "--output-file", "t.json");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toContain("the container of the job has ended with exit status 0: never");
    expect(ended.stderr).toContain('entrypoint: [""]');
    expect(readFileSync(join(world.work, "t.json"), "utf8")).toContain("has ended with exit status 0");
  });

  test("has a copy of the project that belongs to its user while it runs, at the same path", async () => {
    const world = createWorld();
    write(world, { image: images.entry, script: ['echo "in $PWD as $(id -u)"', "touch made"] });
    const ended = await world.run(["local"]);
    expect(ended, ended.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("in /builds/work as 1234\n"),
    });
    expect(readdirSync(world.work)).toEqual([".gitlab-ci.yml"]);
    expect([left(world), readdirSync(join(world.stateDir, "workspaces"))]).toEqual([[], []]);
  });

  test("has its image pulled as pull_policy says, the next policy after one that fails", async () => {
    const world = createWorld();
    write(world, { image: { name: "localhost:1/none", pull_policy: "never" }, script: ["true"] });
    const never = await local(world);
    expect(never).toMatchObject({ code: 1, stdout: "" });
    expect(never.stderr).toContain('the image "localhost:1/none" cannot be had: it is not here');
    write(world, { image: { name: images.plain, pull_policy: ["always", "if-not-present"] }, script: ["echo ran"] });
    const both = await local(world);
    expect(both).toMatchObject({ code: 0, stdout: "$ echo ran\nran\n" });
    expect(both.stderr).toContain(`Pulling image ${images.plain}`);
    write(world, { image: images.plain, script: ["true"] });
    expect(await local(world, "--pull-policy", "always")).toMatchObject({ code: 1 });
  });

  test.skipIf(!hasRegistry)(
    "is pulled from a registry when it is missing, and its digest is in the trace",
    async () => {
      const world = createWorld();
      await using registry = await startRegistry();
      const name = `${registry.host}/tools/sh:1`;
      for (const args of [
        ["tag", images.plain, name],
        ["push", name],
        ["rmi", name],
      ])
        docker(...args);
      onTestFinished(() => void docker("rmi", name));
      write(world, { image: name, script: ["echo pulled"] });
      const ended = await local(world, "--output-file", "t.json");
      expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "$ echo pulled\npulled\n" });
      expect(ended.stderr).toContain(`Pulling image ${name}`);
      const said = `${registry.host}/tools/sh@sha256:`;
      expect((await readTrace(join(world.work, "t.json"))).notes).toContainEqual(expect.stringContaining(said));
    },
  );

  test("is refused with flags that name files which its container does not see", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "mine"));
    write(world, { image: images.plain, script: ["echo ran"] });
    const ended = await local(world, "--component-source", "gitlab.com/a/b=./mine");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toContain("--component-source is not honoured in containers; --executor host");
  });

  test("ends by a time limit, and by a signal, as one on this machine", async () => {
    const world = createWorld();
    write(world, { image: images.plain, script: ["echo up", "sleep 1000"] });
    expect(await local(world, "--timeout", "6s", "--grace", "1s")).toMatchObject({ code: 124 });
    const running = world.start(["local", "--in-place"]);
    await running.printed("up\n");
    const id = idOf(world);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    expect([left(world), ofJob(id)]).toEqual([[], ""]);
  });
});

test.skipIf(!isPossible)(
  "jobs of a pipeline hand on artifacts from container to container, each as another user",
  async () => {
    const world = createWorld();
    const jobs = {
      stages: ["build", "test"],
      make: {
        stage: "build",
        image: images.plain,
        script: ["mkdir out", "id -u >out/user"],
        artifacts: { paths: ["out"] },
      },
      test: {
        stage: "test",
        image: { name: images.plain, docker: { user: "1234" } },
        script: ["cat out/user", "id -u >here"],
      },
    };
    writeFileSync(join(world.work, ".gitlab-ci.yml"), JSON.stringify(jobs));
    const ended = await world.run(["pipeline", "--output-file", "t.json"]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("test | 0\n") });
    // Each job has a copy of the project.
    expect(readdirSync(world.work).toSorted()).toEqual([".gitlab-ci.yml", "t.json"]);
    const { jobs: recorded } = JSON.parse(readFileSync(join(world.work, "t.json"), "utf8")) as {
      readonly jobs: unknown;
    };
    expect(JSON.stringify(recorded)).toContain(`The job runs in a container of ${images.plain}`);
    expect([left(world), readdirSync(join(world.stateDir, "workspaces"))]).toEqual([[], []]);
  },
  TEST_MS,
);

describe.skipIf(!isPossible)("a runner of a job in containers that is killed", { timeout: TEST_MS }, () => {
  const start = async (world: World): Promise<{ readonly id: string; readonly pid: number }> => {
    const service = { name: images.service, alias: "db" };
    write(world, { image: images.plain, services: [service], script: ["echo up", "sleep 1000"] });
    const running = world.start(["local", "--in-place"]);
    await running.printed("up\n");
    const id = idOf(world);
    expect(ofJob(id)).not.toBe("");
    return { id, pid: running.pid };
  };

  test("leaves nothing: its guard removes containers, network and folder", async () => {
    const world = createWorld();
    const { id, pid } = await start(world);
    process.kill(pid, "SIGKILL");
    await until(() => ofJob(id) === "" && left(world).length === 0);
  });

  test("leaves nothing that the next run does not remove, if the guard is killed too", async () => {
    const world = createWorld();
    const { id, pid } = await start(world);
    for (const guard of processesWith(`steps.job=${id}`)) process.kill(guard, "SIGKILL");
    process.kill(pid, "SIGKILL");
    await until(() => !isRunning(pid));
    expect(ofJob(id)).not.toBe("");
    write(world, { image: images.plain, script: ["echo next"] });
    expect(await local(world)).toMatchObject({ code: 0, stdout: "$ echo next\nnext\n" });
    expect([left(world), ofJob(id)]).toEqual([[], ""]);
  });
});

describe.skipIf(!isPossible || process.getuid?.() !== 0)("a user who is not root", { timeout: TEST_MS }, () => {
  const UID = 12_345;

  /** The command as a user who may use the engine, in a world that belongs to them. */
  function commandOf(world: World, script: readonly string[]): Parameters<typeof spawn> {
    write(world, { image: images.plain, script });
    const group = lstatSync("/var/run/docker.sock").gid;
    spawnSync("chown", ["-R", `${UID}:${UID}`, world.dir]);
    const ids = [`--reuid=${UID}`, `--regid=${UID}`, `--groups=${group}`];
    const env = { ...world.env, NODE_COMPILE_CACHE: "" };
    return [
      "setpriv",
      [...ids, COMMAND, "local", "--in-place"],
      { cwd: world.work, env, stdio: ["ignore", "pipe", "pipe"] },
    ];
  }

  function owners(dir: string): Record<string, number> {
    const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
    return Object.fromEntries(names.map((name) => [name, lstatSync(join(dir, name)).uid]));
  }

  test("owns all files of the job afterwards, whoever made them in the container", () => {
    const world = createWorld();
    mkdirSync(join(world.work, "kept"));
    const script = ["id -u", "mkdir -p a/b", "touch a/b/c", "chown -R 77 a/b", "touch kept/x"];
    const [program, args, options] = commandOf(world, script);
    const ended = spawnSync(program, args, { ...options, encoding: "utf8" });
    expect(ended, ended.stderr).toMatchObject({ status: 0, stdout: expect.stringContaining("\n0\n") });
    const paths = [".gitlab-ci.yml", "a", "a/b", "a/b/c", "kept", "kept/x"];
    expect(owners(world.work)).toEqual(Object.fromEntries(paths.map((path) => [path, UID])));
    expect(left(world)).toEqual([]);
  });

  test("owns them also when the runner is killed", async () => {
    const world = createWorld();
    const runner = spawn(...commandOf(world, ["mkdir made", "touch made/x", "echo up", "sleep 1000"]));
    onTestFinished(() => void runner.kill("SIGKILL"));
    for await (const chunk of runner.stdout ?? []) if (String(chunk).includes("up\n")) break;
    expect(owners(world.work)).toMatchObject({ "made/x": 0 });
    const id = idOf(world);
    runner.kill("SIGKILL");
    await until(() => left(world).length === 0 && ofJob(id) === "");
    expect(owners(world.work)).toEqual({ ".gitlab-ci.yml": UID, made: UID, "made/x": UID });
  });
});

describe("a job with an image where it runs in no container", () => {
  const image = { name: "some/image:1" };

  test("runs on the host only when told so, and the trace says that its image was ignored", async () => {
    const world = createWorld();
    write(world, { image, services: ["postgres"], script: ['echo "$CI_JOB_IMAGE" here'] });
    const ended = await local(world, "--executor", "host", "--output-file", "t.json");
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("some/image:1 here\n") });
    const said = '"image" of "test" is ignored: the job runs on this machine, not in a container';
    expect(ended.stderr).toContain(said);
    expect(ended.stderr).toContain('"services" of "test" is ignored');
    expect((await readTrace(join(world.work, "t.json"))).notes).toContainEqual(expect.stringContaining(said));
  });

  test("is refused where there is no engine, with the way out", async () => {
    const world = createWorld();
    write(world, { image, script: ["echo ran"] });
    const env = { PATH: join(world.dir, "home") };
    const ended = await world.start(["local", "--output-file", "t.json"], { env }).ended;
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/neither docker nor podman is on the PATH|neither docker nor podman on the PATH/);
    expect(ended.stderr).toContain("--executor host runs the job on this machine");
    expect(readFileSync(join(world.work, "t.json"), "utf8")).toContain("--executor host");
  });

  test("is refused by --executor docker if it has no image, and runs here otherwise", async () => {
    const world = createWorld();
    write(world, { script: ["echo here"] });
    expect(await local(world, "--executor", "docker")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The job "test" names no image'),
    });
    expect(await local(world)).toMatchObject({ code: 0, stdout: "$ echo here\nhere\n" });
  });

  test.skipIf(!isPossible)("is not run if its image is nothing once variables are filled in", async () => {
    const world = createWorld();
    write(world, { image: "$NONE", script: ["echo ran"] });
    const ended = await local(world, "--executor", "docker");
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain('error: "image" names no image: "$NONE", which becomes nothing [invalid-image]');
  });
});
