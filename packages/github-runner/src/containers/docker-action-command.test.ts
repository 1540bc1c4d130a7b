import { describe, expect, test } from "vitest";
import { type DockerRun, dockerRunCommand, toContainerPath, toHostPath } from "./docker-action-command.ts";

const docker = { program: "/usr/bin/docker", kind: "docker" } as const;
const podman = { program: "/usr/bin/podman", kind: "podman" } as const;
const mounts = {
  workspace: "/builds/group/project",
  temp: "/job/temp",
  home: "/job/temp/_github_home",
  workflow: "/job/temp/_github_workflow",
  fileCommands: "/job/temp/_runner_file_commands",
};

function build(run: Partial<DockerRun> = {}): { options: string[]; rest: string[]; env: Record<string, string> } {
  const base = { cli: docker, image: "image:1", name: "a-name", label: "a-label", args: undefined, mounts, env: {} };
  const { command, env } = dockerRunCommand({ ...base, ...run });
  const image = command.indexOf("image:1");
  return { options: command.slice(0, image), rest: command.slice(image + 1), env };
}

function namesIn(options: readonly string[]): string[] {
  return options.filter((_, index) => options[index - 1] === "--env");
}

describe("the container", () => {
  test("has a name, a label and the workspace to work in, and goes when it ends", () => {
    const { options } = build();
    expect(options.slice(0, 2)).toEqual(["/usr/bin/docker", "run"]);
    expect(options).toContain("--rm");
    expect(options).toContain("--name=a-name");
    expect(options).toContain("--label=a-label");
    expect(options).toContain("--workdir=/github/workspace");
    expect(options.join(" ")).not.toMatch(/--network|--entrypoint|--user|--security-opt/);
  });

  test("is on the job's network", () => {
    expect(build({ network: "net-1" }).options).toContain("--network=net-1");
    expect(build({ network: "" }).options.join(" ")).not.toContain("--network");
  });

  test("finds the folders of the job, and the workspace also where the host has it", () => {
    expect(build().options.filter((option) => option.startsWith("--mount"))).toEqual([
      "--mount=type=bind,source=/job/temp,target=/github/runner_temp",
      "--mount=type=bind,source=/job/temp/_github_home,target=/github/home",
      "--mount=type=bind,source=/job/temp/_github_workflow,target=/github/workflow",
      "--mount=type=bind,source=/job/temp/_runner_file_commands,target=/github/file_commands",
      "--mount=type=bind,source=/builds/group/project,target=/github/workspace",
      "--mount=type=bind,source=/builds/group/project,target=/builds/group/project",
    ]);
  });

  test.each(["/", "/app", "/usr", "/github/workspace"])(
    "does not hide a folder of its image by the workspace %s",
    (workspace) => {
      const targets = build({ mounts: { ...mounts, workspace } }).options.filter((option) =>
        /^--mount.*source=\//.test(option),
      );
      expect(targets).toHaveLength(5);
      expect(targets.at(-1)).toBe(`--mount=type=bind,source=${workspace},target=/github/workspace`);
    },
  );

  test("finds the socket where there is one", () => {
    expect(build({ socket: "/run/user/1000/podman/podman.sock" }).options).toContain(
      "--mount=type=bind,source=/run/user/1000/podman/podman.sock,target=/var/run/docker.sock",
    );
    expect(build().options.join(" ")).not.toContain("docker.sock");
  });

  test("finds folders with colons, commas and quotes in their names", () => {
    const { options } = build({ mounts: { ...mounts, workspace: '/b/a:ro,"x"' } });
    expect(options).toContain('--mount=type=bind,"source=/b/a:ro,""x""",target=/github/workspace');
  });

  test("of Podman gets no new labels on the user's files", () => {
    expect(build({ cli: podman }).options).toContain("--security-opt=label=disable");
  });

  test.each(["", "-v/:/host", "a b", "a\n"])("cannot be of image %j", (image) => {
    expect(() => build({ image })).toThrow(expect.objectContaining({ code: "REFERENCE_INVALID" }));
  });
});

describe("its program", () => {
  test("is the image's, unless the manifest or else the caller says another", () => {
    expect(build({ entrypoint: "", withEntrypoint: "" }).options.join(" ")).not.toContain("--entrypoint");
    expect(build({ withEntrypoint: "/theirs" }).options).toContain("--entrypoint=/theirs");
    expect(build({ entrypoint: "/ours", withEntrypoint: "/theirs" }).options).toContain("--entrypoint=/ours");
    expect(build({ entrypoint: "", withEntrypoint: "/theirs" }).options).toContain("--entrypoint=/theirs");
  });

  test("gets the manifest's arguments, else the words of the caller's", () => {
    expect(build({ args: ["a b", "", "--x"], withArgs: "not this" }).rest).toEqual(["a b", "", "--x"]);
    expect(build({ args: [], withArgs: "not this" }).rest).toEqual([]);
    expect(build({ withArgs: `one "two three" $HOME` }).rest).toEqual(["one", "two three", "$HOME"]);
    expect(build().rest).toEqual([]);
  });
});

describe("its variables", () => {
  test("are arguments by name, with their values in the environment of the client", () => {
    const { options, env } = build({ env: { "INPUT_WHO-TO-GREET": "secret-1", TOKEN: "secret-2" } });
    expect(namesIn(options)).toEqual(expect.arrayContaining(["INPUT_WHO-TO-GREET", "TOKEN"]));
    expect(options.join(" ")).not.toContain("secret");
    expect(env).toMatchObject({ "INPUT_WHO-TO-GREET": "secret-1", TOKEN: "secret-2" });
  });

  test("say that it is GitHub's, and a CI system unless that is said already", () => {
    expect(build({ env: { GITHUB_ACTIONS: "false" } }).env).toMatchObject({ CI: "true", GITHUB_ACTIONS: "true" });
    expect(build({ env: { CI: "woodpecker" } }).env).toMatchObject({ CI: "woodpecker" });
    expect(build({ env: { CI: "" } }).env).toMatchObject({ CI: "" });
  });

  test("do not change how the client works, nor does the client's environment reach the container", () => {
    const clientEnv = { HOME: "/root", PATH: "/usr/bin", DOCKER_HOST: "tcp://real", EMPTY: undefined };
    const { options, env } = build({
      env: { HOME: "/x", DOCKER_HOST: "tcp://other", LD_PRELOAD: "/evil.so" },
      clientEnv,
    });
    expect(env).toEqual({
      HOME: "/root",
      PATH: "/usr/bin",
      DOCKER_HOST: "tcp://real",
      CI: "true",
      GITHUB_ACTIONS: "true",
    });
    expect(namesIn(options)).toEqual(
      expect.arrayContaining(["HOME=/github/home", "DOCKER_HOST=tcp://other", "LD_PRELOAD=/evil.so"]),
    );
    expect(namesIn(options).join(" ")).not.toContain("PATH=");
  });

  test("with a password are never arguments, though their name begins like the client's own", () => {
    const { options, env } = build({ env: { DOCKER_PASSWORD: "hunter2", DOCKER_AUTH_CONFIG: "hunter2" } });
    expect(options.join(" ")).not.toContain("hunter2");
    expect(env).toMatchObject({ DOCKER_PASSWORD: "hunter2", DOCKER_AUTH_CONFIG: "hunter2" });
  });

  test("may have any name", () => {
    const env = Object.fromEntries([
      ["__proto__", "a"],
      ["", "b"],
      ["-v", "c"],
      ["constructor", "d"],
    ]);
    const built = build({ env });
    expect(namesIn(built.options)).toEqual(expect.arrayContaining(["__proto__", "-v", "constructor"]));
    expect(namesIn(built.options)).not.toContain("");
    expect(Object.entries(built.env)).toEqual(
      expect.arrayContaining([
        ["__proto__", "a"],
        ["-v", "c"],
        ["constructor", "d"],
      ]),
    );
  });

  test("with paths of the host have those of the container", () => {
    const { env } = build({
      env: {
        GITHUB_WORKSPACE: "/builds/group/project",
        RUNNER_TEMP: "/job/temp",
        GITHUB_OUTPUT: "/job/temp/_runner_file_commands/output_1",
        GITHUB_EVENT_PATH: "/job/temp/_github_workflow/event.json",
        MINE: "/builds/group/project/a/b",
      },
    });
    expect(env).toMatchObject({
      GITHUB_WORKSPACE: "/github/workspace",
      RUNNER_TEMP: "/github/runner_temp",
      GITHUB_OUTPUT: "/github/file_commands/output_1",
      GITHUB_EVENT_PATH: "/github/workflow/event.json",
      MINE: "/github/workspace/a/b",
    });
  });
});

describe("paths", () => {
  test.each([
    ["/builds/group/project-2/x", "/builds/group/project-2/x"],
    ["/builds/group", "/builds/group"],
    ["x=/builds/group/project", "x=/builds/group/project"],
    ["/builds/group/project:/job/temp", "/builds/group/project:/job/temp"],
    ["/job/temp/_github_home/.config", "/github/home/.config"],
    ["/job/temp/_github_homes", "/github/runner_temp/_github_homes"],
    ["", ""],
  ])("%j becomes %j", (host, container) => {
    expect(toContainerPath(host, mounts)).toBe(container);
  });

  test("of a workspace within another mount are the workspace's", () => {
    const nested = { ...mounts, workspace: "/job/temp/work/" };
    expect(toContainerPath("/job/temp/work/a", nested)).toBe("/github/workspace/a");
    expect(toContainerPath("/job/temp/works", nested)).toBe("/github/runner_temp/works");
  });

  test("of the container become the host's", () => {
    expect(toHostPath("/github/workspace/src/a.ts", mounts)).toBe("/builds/group/project/src/a.ts");
    expect(toHostPath("/github/home", mounts)).toBe("/job/temp/_github_home");
    expect(toHostPath("/github/workspaces", mounts)).toBe("/github/workspaces");
    expect(toHostPath("/builds/group/project/a", mounts)).toBe("/builds/group/project/a");
    expect(toHostPath("src/a.ts", mounts)).toBe("src/a.ts");
  });
});
