import { describe, expect, test } from "vitest";
import { jobContainerCommand, serviceCommand } from "./container-arguments.ts";

const spec = {
  image: "image:1",
  env: { TOKEN: "secret", PATH: "/x" },
  ports: ["6379"],
  volumes: ["data:/data"],
  options: ["--name=theirs", "--cpus", "1"],
  command: ["serve", "-v"],
};
const start = {
  cli: { program: "/usr/bin/docker", kind: "docker" },
  spec,
  name: "n",
  label: "l=1",
  network: "net",
  clientEnv: { PATH: "/usr/bin", HOME: "/root", DOCKER_HOST: undefined },
} as const;

describe("serviceCommand()", () => {
  test("has the author's options before ours, and no value of a variable that could be a secret", () => {
    const { command, shown, env } = serviceCommand({ ...start, alias: "-redis", spec: { ...spec, entrypoint: "/e" } });
    const words = "--publish=6379 --volume=data:/data --env TOKEN --env PATH=/x --name=theirs --cpus 1".split(" ");
    const last = "--network-alias=-redis --entrypoint=/e image:1 serve -v".split(" ");
    const names = ["--name=n", "--label=l=1", "--network=net"];
    expect(command).toEqual(["/usr/bin/docker", "run", "--detach", ...words, ...names, ...last]);
    expect(shown).toEqual(["run", "--detach", ...words, ...last]);
    expect(env).toEqual({ TOKEN: "secret", PATH: "/usr/bin", HOME: "/root" });
  });

  test("names the credentials' folder to the client, and to nobody who reads the trace", () => {
    const registry = { clientOptions: ["--config=/private"], options: ["--authfile=/private/f"] };
    const { command, shown } = serviceCommand({ ...start, registry });
    expect(command.slice(1, 5)).toEqual(["--config=/private", "run", "--detach", "--authfile=/private/f"]);
    expect(shown.join(" ")).not.toContain("private");
  });
});

describe("jobContainerCommand()", () => {
  test("keeps a shell waiting, whatever the image would start", () => {
    const { command } = jobContainerCommand({ ...start, workDir: "/w", mounts: ["--mount=m"], env: { HOME: "/h" } });
    const last = command.slice(command.indexOf("--interactive"));
    const script = expect.stringContaining("wait");
    expect(last).toEqual([
      "--interactive",
      "--workdir=/w",
      "--mount=m",
      "--entrypoint=/bin/sh",
      "image:1",
      "-c",
      script,
    ]);
    expect(command).toContain("HOME=/h");
  });
});
