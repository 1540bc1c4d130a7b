import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { NewRunner, RunnerView } from "@steps/pods";
import { adminClient } from "../admin-client.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson } from "../table.ts";
import { grouped } from "@steps/console";

const flags = {
  ...grouped("What it takes", {
    tag: flag.list({ placeholder: "TAG", summary: "Takes jobs with this tag; repeat for more", separator: /[\s,]+/ }),
    "run-untagged": flag.boolean({
      summary: "Takes jobs without tags; by default a runner without tags does, and one with tags does not",
    }),
    project: flag.list({ placeholder: "PATH", summary: "Takes jobs of this project alone; repeat for more" }),
    group: flag.text({ placeholder: "PATH", summary: "Takes jobs of the projects of this group alone" }),
    locked: flag.boolean({ summary: "Stays with its projects" }),
    protected: flag.boolean({ summary: "Takes jobs of protected branches and tags alone" }),
    paused: flag.boolean({ summary: "Takes no jobs for now" }),
    "maximum-timeout": flag.duration({ summary: "The longest time that it gives a job" }),
  }),
  description: flag.text({ summary: "The purpose of the runner, for people", placeholder: "TEXT" }),
  expires: flag.duration({ summary: "The time after which its token expires; by default never" }),
  ...podFlags,
};
type Options = OptionsOf<typeof flags>;

export const createRunner = defineCommand({
  name: "create-runner",
  summary: "Create a runner, and print its token and the command that starts it",
  usage: "[flags]",
  description: [
    "The token is told this once. It may be used by any number of machines, each of which is one manager of the runner.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod create-runner --tag linux --tag docker", "for jobs of any project that ask for these tags"],
    ["pod create-runner --project group/app --locked --run-untagged", "for one project"],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  if (options.group !== undefined && options.project.length > 0)
    throw new UsageError("Both --group and --project are given", "A runner is one of a group, or one of projects.");
  const seconds = (time: number | undefined): number | undefined => time && Math.ceil(time / 1000);
  const settings: NewRunner = {
    projects: options.project,
    group: options.group,
    description: options.description,
    tags: options.tag,
    // Without the flag the pod decides by the tags.
    run_untagged: options.runUntagged ? true : undefined,
    locked: options.locked,
    protected: options.protected,
    paused: options.paused,
    maximum_timeout: seconds(options.maximumTimeout),
    token_lifetime: seconds(options.expires),
  };
  const pod = adminClient(options);
  const runner = await pod.call<RunnerView & { readonly token: string }>("POST", "/runners", settings);
  await print(options.report === "json" ? formatJson(runner) : describe(runner, pod.url));
  return 0;
}

function describe({ id, kind, token }: RunnerView & { readonly token: string }, url: string): string {
  return `Runner ${id} (${kind}) has the token
  ${token}
Start it on any machine that reaches the pod:
  runner-bridge register --url ${url} --token ${token} && runner-bridge start
  gitlab-runner register --non-interactive --url ${url} --token ${token} --executor shell && gitlab-runner run
`;
}
