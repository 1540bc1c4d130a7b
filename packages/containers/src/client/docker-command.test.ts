import { expect, test } from "vitest";
import { dockerBuildCommand, dockerRemoveCommand } from "./docker-command.ts";

const docker = { program: "/usr/bin/docker", kind: "docker" } as const;
const podman = { program: "/usr/bin/podman", kind: "podman" } as const;

test("dockerBuildCommand() builds with the folder of the Dockerfile as context", () => {
  const built = { dockerfile: "/a/Dockerfile", context: "/a", tag: "steps:1" };
  expect(dockerBuildCommand({ cli: docker, ...built })).toEqual([
    "/usr/bin/docker", "build", "--tag=steps:1", "--file=/a/Dockerfile", "/a",
  ]); // oxfmt-ignore
  expect(dockerBuildCommand({ cli: podman, ...built })).toContain("--format=docker");
});

test("dockerRemoveCommand() removes a container that runs", () => {
  expect(dockerRemoveCommand(docker, "a-name")).toEqual(["/usr/bin/docker", "rm", "--force", "--volumes", "a-name"]);
  expect(dockerRemoveCommand(podman, "a-name")).toContain("--time=0");
});
