import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  checkContainerCli,
  type ContainerCli,
  dockerBuildCommand,
  findContainerCli,
  findContainerSocket,
  removeContainer,
  removeLabelled,
} from "@steps/containers";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type DockerRun, dockerRunCommand } from "../src/containers/docker-action-command.ts";

const run = promisify(execFile);
const found = findContainerCli(process.env["PATH"]);
const cli: ContainerCli = found ?? { program: "docker", kind: "docker" };
const isThere = found !== undefined && existsSync("/bin/busybox");
if (!isThere && process.env["STEPS_SKIPPED_FILE"] !== undefined) {
  appendFileSync(process.env["STEPS_SKIPPED_FILE"], "docker\n");
}

const id = randomBytes(6).toString("hex");
const image = `steps-action-${id}:test`;
const label = `steps-action-test=${id}`;

// An image with nothing but a static busybox.
async function importBusybox(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "docker-image-"));
  try {
    for (const dir of ["bin", "tmp"]) mkdirSync(join(folder, dir));
    copyFileSync("/bin/busybox", join(folder, "bin/busybox"));
    for (const applet of ["sh", "cat", "env", "sleep", "ls", "id", "printf", "touch"]) {
      symlinkSync("busybox", join(folder, "bin", applet));
    }
    const change = '--change "ENV FROM_IMAGE=yes" --change \'ENTRYPOINT ["/bin/sh", "-ec"]\'';
    await run("sh", ["-c", `tar c -C "$1" . | "$2" import ${change} - "$3"`, "sh", folder, cli.program, image]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let root = "";
let mounts: DockerRun["mounts"];

function makeJob(workspace: string): void {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "docker-action-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  root = dir;
  const temp = join(root, "temp");
  mounts = {
    workspace: join(root, workspace),
    temp,
    home: join(temp, "_github_home"),
    workflow: join(temp, "_github_workflow"),
    fileCommands: join(temp, "_runner_file_commands"),
  };
  for (const folder of Object.values(mounts)) mkdirSync(folder, { recursive: true });
}

function plan(over: Partial<DockerRun> = {}): { command: string[]; env: Record<string, string>; name: string } {
  const name = `steps-action-${randomBytes(6).toString("hex")}`;
  const clientEnv = { PATH: process.env["PATH"], HOME: process.env["HOME"], DOCKER_HOST: process.env["DOCKER_HOST"] };
  const built = dockerRunCommand({ cli, image, name, label, args: undefined, mounts, env: {}, clientEnv, ...over });
  return { ...built, name };
}

async function runAction(over: Partial<DockerRun>): Promise<string> {
  const { command, env } = plan(over);
  const [program = "", ...args] = command;
  return (await run(program, args, { env })).stdout;
}

async function containers(...filter: string[]): Promise<string[]> {
  const { stdout } = await run(cli.program, ["ps", "--all", "--format={{.Names}}", ...filter]);
  return stdout.split("\n").filter((name) => name !== "");
}

describe.skipIf(!isThere)("a Docker action", () => {
  beforeAll(importBusybox);
  afterAll(async () => {
    await removeLabelled(cli, { label, env: process.env });
    await run(cli.program, ["rmi", "--force", image]);
  });
  beforeEach(() => makeJob("work"));

  test("writes its outputs, finds its home, its event and the workspace, and leaves no container", async () => {
    const output = join(mounts.fileCommands, "output_1");
    const event = join(mounts.workflow, "event.json");
    writeFileSync(output, "");
    writeFileSync(event, '{"n":1}');
    writeFileSync(join(mounts.workspace, "input.txt"), "from the host");
    const script = `
      printf 'who=%s\\n' "$INPUT_WHO" >> "$GITHUB_OUTPUT"
      printf kept > "$HOME/note"; printf temp > "$RUNNER_TEMP/file"; printf made > made.txt
      cat input.txt "$GITHUB_EVENT_PATH"
      printf '\\n%s|%s|%s|%s|%s|%s' "$PWD" "$HOME" "$GITHUB_WORKSPACE" "$CI" "$GITHUB_ACTIONS" "$FROM_IMAGE"`;
    const env = {
      INPUT_WHO: "a\nb $x",
      GITHUB_OUTPUT: output,
      GITHUB_EVENT_PATH: event,
      GITHUB_WORKSPACE: mounts.workspace,
      RUNNER_TEMP: mounts.temp,
    };
    expect(await runAction({ args: [script], env })).toBe(
      'from the host{"n":1}\n/github/workspace|/github/home|/github/workspace|true|true|yes',
    );
    expect(readFileSync(output, "utf8")).toBe("who=a\nb $x\n");
    expect(readFileSync(join(mounts.home, "note"), "utf8")).toBe("kept");
    expect(readFileSync(join(mounts.temp, "file"), "utf8")).toBe("temp");
    expect(readFileSync(join(mounts.workspace, "made.txt"), "utf8")).toBe("made");
    expect(await containers(`--filter=label=${label}`)).toEqual([]);
  });

  test("finds the workspace under its path on the host, and the socket", async () => {
    writeFileSync(join(mounts.workspace, "a"), "same");
    const socket = findContainerSocket(cli, process.env);
    const script = `cat '${mounts.workspace}/a'; [ -S /var/run/docker.sock ] && printf ' socket'`;
    const asked = await runAction({ args: [`${script}; true`], socket });
    expect(asked).toBe(socket === undefined ? "same" : "same socket");
  });

  test("gets variables that no shell can hold, and none of the client's", async () => {
    const env = { "INPUT_WHO-TO-GREET": "Mona", "INPUT_A B": "1", MULTI: "x\ny" };
    const lines = (await runAction({ entrypoint: "/bin/env", args: [], env })).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining(["INPUT_WHO-TO-GREET=Mona", "INPUT_A B=1", "MULTI=x", "y", "HOME=/github/home"]),
    );
    expect(lines.find((line) => line.startsWith("PATH="))).not.toBe(`PATH=${process.env["PATH"]}`);
    expect(lines.join("\n")).not.toContain("DOCKER_HOST");
  });

  test("runs the caller's program with the caller's words where the manifest says nothing", async () => {
    const withArgs = `'%s,' one "two three" "\\"four\\"" $HOME`;
    expect(await runAction({ withEntrypoint: "/bin/printf", withArgs })).toBe(`one,two three,"four",$HOME,`);
    expect(await runAction({ withEntrypoint: "/bin/printf", withArgs, args: ["manifest"] })).toBe("manifest");
  });

  test("works in a folder whose name is full of what separates options", async () => {
    makeJob(`a,b:ro "c" =d`);
    writeFileSync(join(mounts.workspace, "f"), "here");
    expect(await runAction({ args: ["cat f"] })).toBe("here");
  });

  test("gives its exit code", async () => {
    await expect(runAction({ args: ["exit 7"] })).rejects.toMatchObject({ code: 7 });
  });

  test("is ended by its name when its client is killed", async () => {
    const { command, env, name } = plan({ args: ["printf started; trap '' TERM; while :; do sleep 1; done"] });
    const client = spawn(command[0] as string, command.slice(1), { env, stdio: ["ignore", "pipe", "inherit"] });
    const closed = new Promise((resolve) => client.once("close", resolve));
    await Promise.race([new Promise((resolve) => client.stdout.once("data", resolve)), closed]);
    expect(client.exitCode).toBeNull();
    client.kill("SIGKILL");
    await closed;
    expect(await containers(`--filter=name=${name}`)).toEqual([name]);
    expect(await removeContainer(cli, { name, env: process.env })).toBe(true);
    expect(await containers(`--filter=name=${name}`)).toEqual([]);
    expect(await removeContainer(cli, { name, env: process.env })).toBe(true);
  });

  test("that was never started is removed by its label", async () => {
    const name = `steps-action-${randomBytes(6).toString("hex")}`;
    await run(cli.program, ["create", `--name=${name}`, `--label=${label}`, image]);
    expect(await removeLabelled(cli, { label, env: process.env })).toBe(true);
    expect(await containers(`--filter=name=${name}`)).toEqual([]);
  });

  test("is built from its Dockerfile", async () => {
    const folder = join(root, "action");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "Dockerfile"),
      `FROM ${image}\nCOPY say.sh /say.sh\nENTRYPOINT ["/bin/sh", "/say.sh"]\n`,
    );
    writeFileSync(join(folder, "say.sh"), 'printf "built %s" "$1"');
    const tag = `steps-action-built-${id}:test`;
    onTestFinished(async () => void (await run(cli.program, ["rmi", "--force", tag])));
    const [program = "", ...args] = dockerBuildCommand({
      cli,
      dockerfile: join(folder, "Dockerfile"),
      context: folder,
      tag,
    });
    await run(program, args);
    expect(await runAction({ image: tag, args: ["it"] })).toBe("built it");
  });

  test("needs a daemon, which is asked for", async () => {
    expect(await checkContainerCli(cli, { env: process.env })).toMatchObject({ isUsable: true });
    const nowhere = {
      ...process.env,
      DOCKER_HOST: `unix://${root}/none.sock`,
      CONTAINER_HOST: `unix://${root}/none.sock`,
    };
    if (cli.kind === "docker")
      expect(await checkContainerCli(cli, { env: nowhere })).toMatchObject({ isUsable: false });
  });
});
