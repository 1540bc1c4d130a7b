import { expect, test } from "vitest";
import { jobCommand, serviceCommand } from "./start-command.ts";
import type { WantedContainers, WantedService } from "./wanted.ts";

const place = { cli: { program: "/usr/bin/docker", kind: "docker" }, name: "n", label: "l=1", network: "net" } as const;
const folders = { program: "/state/program", run: "/state/run" };

function wanted(image: Partial<WantedContainers["image"]>, besides: Partial<WantedContainers> = {}): WantedContainers {
  return {
    image: { name: "img", pullPolicies: [], ...image },
    services: [],
    serviceEnv: {},
    project: { source: "/home/me/p", target: "/builds/g/p", isPrivate: false },
    stores: [{ source: "/state/store", target: "/state/store" }],
    isPrivileged: false,
    ...besides,
  };
}

/** The arguments of a command from the image on, and those before it. */
function split(
  args: readonly string[],
  image: string,
): { readonly options: readonly string[]; readonly words: readonly string[] } {
  const at = args.indexOf(image);
  return { options: args.slice(0, at), words: args.slice(at + 1) };
}

test("jobCommand() mounts the program read-only and the folders of the job, and starts the service", () => {
  const { args } = jobCommand(place, wanted({}), { folders, serveFlags: ["--offline"] });
  const { options, words } = split(args, "img");
  expect(options).toEqual(expect.arrayContaining([
    "--pull=never", "--network=net", "--label=l=1", "--workdir=/builds/g/p",
    "--mount=type=bind,source=/state/program,target=/.step-runner/bin,readonly",
    "--mount=type=bind,source=/home/me/p,target=/builds/g/p",
    "--mount=type=bind,source=/state/store,target=/state/store",
  ])); // oxfmt-ignore
  expect(options.some((option) => /^--(?:entrypoint|user|platform|privileged)/.test(option))).toBe(false);
  expect(words.slice(0, 2)).toEqual(["/.step-runner/bin/step-runner", "serve"]);
  expect(words.at(-1)).toBe("--offline");
});

test("jobCommand() gives the engine one program as the entry point, and its arguments before ours", () => {
  const image = { entrypoint: ["sh", "-c", 'exec "$@"'], user: "1:2", platform: "linux/arm64" };
  const { options, words } = split(jobCommand(place, wanted(image), { folders, serveFlags: [] }).args, "img");
  expect(options).toEqual(expect.arrayContaining(["--entrypoint=sh", "--user=1:2", "--platform=linux/arm64"]));
  expect(words.slice(0, 3)).toEqual(["-c", 'exec "$@"', "/.step-runner/bin/step-runner"]);
  const reset = jobCommand(place, wanted({ entrypoint: [""] }), { folders, serveFlags: [] });
  expect(reset.args).toContain("--entrypoint=");
});

test("serviceCommand() puts the variables of the job below those of the service, in nobody's list of processes", () => {
  const service: WantedService = {
    name: "db", pullPolicies: [], hostNames: ["a", "b"], command: ["run", "it"], variables: { B: "own" },
  }; // oxfmt-ignore
  const all = wanted({}, { serviceEnv: { A: "secret", B: "job" }, isPrivileged: true });
  const { args, env } = serviceCommand(place, all, service);
  const { options, words } = split(args, "db");
  expect(options).toEqual(expect.arrayContaining(["--network-alias=a", "--network-alias=b", "--privileged"]));
  expect(words).toEqual(["run", "it"]);
  expect(args.join(" ")).not.toMatch(/secret|own/);
  expect(env).toMatchObject({ A: "secret", B: "own" });
});
