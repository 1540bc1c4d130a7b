import { openLog, StopSignals } from "@steps/console/terminal";
import {
  configFlags,
  defineCommand,
  drainFlags,
  flag,
  grouped,
  logFlags,
  type OptionsOf,
  settingsOfConfig,
  UsageError,
} from "@steps/console";
import { keepHeapSmall } from "@steps/platform/runtime";
import type { DaemonAddress } from "@steps/pods";
import { databaseFlags, listenFlags, pollFlags, stateFlags } from "../pod-flags.ts";
import { stateDirectory } from "../state-directory.ts";

const flags = {
  ...listenFlags("POD", { port: "8929", clients: "runners" }),
  url: flag.text({
    placeholder: "URL",
    summary: "The URL at which runners reach the pod, if it is another one",
    env: "POD_PUBLIC_URL",
  }),
  pod: flag.integer({
    summary: "The number of the pod among several behind a router",
    default: "1",
    min: 1,
    max: 9000,
    env: "POD_NUMBER",
  }),
  ...databaseFlags("POD", "pod"),
  ...stateFlags,
  ...grouped("Runners of the whole cluster", {
    daemon: flag.text({
      placeholder: "URL",
      summary: "The daemon that gives the pod's jobs to its runners, too",
      env: "POD_DAEMON",
    }),
    "daemon-token": flag.text({
      placeholder: "TOKEN",
      summary: 'The token of the link, which "pod create-link" prints; better in the variable',
      env: "POD_DAEMON_TOKEN",
    }),
  }),
  ...grouped("Jobs", {
    ...pollFlags("POD"),
    lease: flag.duration({
      summary: "How long a runner has to confirm a job before another gets it",
      default: "60s",
      env: "POD_LEASE",
    }),
    silence: flag.duration({
      summary: "A job fails when its runner was not heard of for so long",
      default: "1h",
      env: "POD_SILENCE",
    }),
    "keep-jobs": flag.duration({
      summary: "Pipelines that ended so long ago are removed, with their traces and artifacts; never by default",
      env: "POD_KEEP_JOBS",
    }),
    "artifact-limit": flag.size({
      summary: "The size that an artifact may have",
      default: "1024",
      env: "POD_ARTIFACT_LIMIT",
    }),
    artifacts: flag.text({
      placeholder: "URL",
      summary:
        "An S3-compatible store for artifacts, s3://BUCKET/PREFIX?endpoint=URL&region=NAME, with AWS_ACCESS_KEY_ID and " +
        "AWS_SECRET_ACCESS_KEY; the state directory by default",
      env: "POD_ARTIFACTS",
    }),
    "trace-limit": flag.size({
      summary: "The size that the trace of a job may have",
      default: "64",
      env: "POD_TRACE_LIMIT",
    }),
    "registration-token": flag.text({
      placeholder: "TOKEN",
      summary: "Lets runners register themselves with this token, as they did formerly; better in the variable",
      env: "POD_REGISTRATION_TOKEN",
    }),
  }),
  ...configFlags("POD_CONFIG"),
  ...logFlags("POD"),
  ...drainFlags("POD", {
    summary: "How long calls that are under way may take when the pod is told to stop",
    default: "10s",
  }),
};
type Options = OptionsOf<typeof flags>;

export const serve = defineCommand({
  name: "serve",
  summary: "Run a pod: keep pipelines and give their jobs to runners that ask for them",
  usage: "[flags]",
  description: [
    "Listens until SIGTERM or SIGINT. Runners that wait are told that there is nothing, and jobs that run go on: their runners find " +
      "the pod again. Everything is in the state directory, or in the database, so that a pod that was killed is simply started again.",
    "Runners are gitlab-runner, runner-bridge, and everything else that speaks GitLab's runner API.",
  ],
  flags,
  settings: settingsOfConfig,
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod serve", "a pod of this machine, with nothing to set up"],
    ["pod serve --host 0.0.0.0 --url https://ci.example.org", "a pod behind a proxy, for runners of other machines"],
    ["pod serve --database postgres://pod@db/pod --pod 2", "a process of pod 2, which may have several"],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  const daemon = daemonOf(options);
  keepHeapSmall();
  const { servePod } = await import("@steps/pods");
  using stop = new StopSignals();
  const log = openLog(options);
  const pod = await servePod(
    {
      pod: options.pod,
      stateDir: options.stateDir ?? stateDirectory(process.env),
      databaseUrl: options.database,
      url: options.url,
      pollHoldMs: options.pollHold,
      leaseSeconds: Math.ceil(options.lease / 1000),
      silenceSeconds: Math.ceil(options.silence / 1000),
      keepSeconds: options.keepJobs === undefined ? undefined : Math.ceil(options.keepJobs / 1000),
      artifacts: options.artifacts,
      artifactLimit: options.artifactLimit,
      traceLimit: options.traceLimit,
      registrationToken: options.registrationToken,
      daemon,
      log,
    },
    { host: options.host, port: options.port },
  );
  log("info", `Pod ${options.pod} is listening at ${pod.url}`, { pid: process.pid });
  await stop.asked();
  await pod.stop({ drainMs: options.drainTimeout, hurry: stop.hurry });
  return 0;
}

function daemonOf({ daemon: url, daemonToken: token }: Options): DaemonAddress | undefined {
  if (url === undefined && token === undefined) return undefined;
  if (url === undefined || token === undefined)
    throw new UsageError(
      url === undefined ? "--daemon is missing" : "--daemon-token is missing",
      '"pod create-link" prints both for a pod.',
    );
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new UsageError(`--daemon "${url}" is no URL`, "Write http:// or https://, a host and perhaps a port.");
  return { url, token };
}
