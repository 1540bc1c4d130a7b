import { hostname } from "node:os";
import { defineCommand, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import {
  connectServer,
  EXECUTORS,
  loadConfig,
  type NewRunner,
  registerRunner,
  saveConfig,
  type ServerSettings,
  systemIdOf,
} from "@steps/runner";
import { configFlags, configOf } from "../runners/config-flags.ts";

const flags = {
  url: flag.text({ summary: "The server: https://gitlab.example.com", env: "CI_SERVER_URL" }),
  token: flag.text({
    summary: "The runner's token (glrt-…), or a registration token",
    env: "CI_SERVER_TOKEN",
  }),
  executor: flag.choice(EXECUTORS, {
    summary: "The kind of place that jobs run in: this machine, containers of it, a cluster, or another machine",
    default: "host",
    env: "RUNNER_EXECUTOR",
  }),
  name: flag.text({ summary: "The runner's name for people; that of the machine by default", env: "RUNNER_NAME" }),
  limit: flag.integer({ summary: "How many jobs the runner has at once; 0 for as many as all runners together" }),
  concurrent: flag.integer({ min: 1, summary: "How many jobs all runners have at once; changes it for all of them" }),
  ...configFlags,
  ...grouped("Where jobs run", {
    "builds-dir": flag.path({ summary: "The folder of projects; below the state directory by default" }),
    "cache-dir": flag.path({ summary: "The folder of caches; below the state directory by default" }),
    "docker-image": flag.text({
      summary: "The image for jobs that name none, in containers of this machine and in a cluster",
      default: "alpine:latest",
    }),
    "docker-privileged": flag.boolean({
      summary: "Give containers all rights of the machine's root, in a cluster too",
    }),
    "kubernetes-helper-image": flag.text({
      placeholder: "IMAGE",
      summary: "The image with step-runner that brings it into the pods of jobs",
    }),
    "kubernetes-namespace": flag.text({ summary: "The namespace of the pods; that of the context by default" }),
    kubeconfig: flag.path({ summary: "The file that says where the cluster is; that of kubectl by default" }),
    "ssh-host": flag.text({
      placeholder: "[USER@]HOST[:PORT]",
      summary: "The machine that jobs run on; step-runner has to be on the PATH there",
    }),
    "ssh-identity-file": flag.list({ placeholder: "FILE", summary: "A private key for it; repeat for more" }),
    "ssh-socket": flag.text({ placeholder: "PATH", summary: "The socket of the service there" }),
    env: flag.pairs({ summary: "A variable for all jobs, unless they have one of that name; repeat for more" }),
  }),
  ...grouped("The server", {
    "tls-ca-file": flag.path({ summary: "The authority that the server is trusted by, in PEM" }),
    "tls-cert-file": flag.path({ summary: "The certificate by which the server knows us, in PEM" }),
    "tls-key-file": flag.path({ summary: "The key of that certificate, in PEM" }),
  }),
  ...grouped("With a registration token", {
    "tag-list": flag.text({ placeholder: "TAG,…", summary: "The tags of jobs that the runner takes" }),
    "run-untagged": flag.boolean({ summary: "Take jobs without tags too" }),
    locked: flag.boolean({ summary: "Keep the runner to its project" }),
    paused: flag.boolean({ summary: "Take no jobs until it is resumed on the server" }),
    "access-level": flag.choice(["not_protected", "ref_protected"], { summary: "Whether only protected refs are run" }),
    "maximum-timeout": flag.duration({ summary: "The longest time that a job may take" }),
    "maintenance-note": flag.text({ summary: "A note for whoever looks after the runner" }),
  }),
};
type Options = OptionsOf<typeof flags>;

export const register = defineCommand({
  name: "register",
  summary: "Make this machine a runner of a GitLab: look its token up, and keep it in the file with the runners",
  usage: "--url URL --token TOKEN [flags]",
  description: [
    "Create the runner on the server first; it shows the token once. The settings of such a runner, as its tags, belong to " +
      "the server. The file is readable by you alone; runner-bridge start reads it when it starts.",
    "The host executor runs the commands of others as this user, with all that this user may do.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["runner-bridge register --url https://gitlab.example.com --token glrt-…", "run jobs on this machine"],
    [
      "runner-bridge register --url https://gitlab.example.com --token glrt-… --executor docker --concurrent 4",
      "run jobs in containers, four at once",
    ],
    [
      "runner-bridge register --url URL --token glrt-… --executor kubernetes --kubernetes-helper-image registry.example.com/steps",
      "run jobs in pods of a cluster; nodes, resources and more are set in the file",
    ],
    ["runner-bridge start", "take jobs"],
  ],
  run: execute,
});

async function execute(options: Options): Promise<number> {
  const file = configOf(options);
  const config = loadConfig(file);
  const runner = runnerOf(options);
  const api = connectServer(runner);
  try {
    const { token = "" } = options;
    const systemId = systemIdOf(file);
    const registered = await registerRunner(runner, { api, token, systemId, settings: settingsOf(options) });
    const others = config.runners.filter(({ token: known, url }) => known !== registered.token || url !== runner.url);
    const concurrent = options.concurrent ?? config.concurrent;
    saveConfig(file, { ...config, concurrent, runners: [...others, registered] });
    await print(
      `Registered runner ${registered.id} "${registered.name}" in ${file}. Take jobs with: runner-bridge start\n`,
    );
    return 0;
  } finally {
    api.close();
  }
}

function runnerOf(options: Options): NewRunner {
  const { url = "", token = "", executor, sshHost = "", kubernetesHelperImage: helperImage = "" } = options;
  if (url === "" || token === "") throw new UsageError(`--${url === "" ? "url" : "token"} is missing`);
  if (executor === "ssh" && sshHost === "") throw new UsageError("--ssh-host is missing");
  if (executor === "kubernetes" && helperImage === "") throw new UsageError("--kubernetes-helper-image is missing");
  const { dockerImage: image, dockerPrivileged: privileged } = options;
  return {
    name: options.name ?? hostname(),
    url,
    executor,
    limit: options.limit ?? 0,
    request_concurrency: 1,
    output_limit: 4096,
    environment: options.env,
    builds_dir: options.buildsDir,
    cache_dir: options.cacheDir,
    tls_ca_file: options.tlsCaFile,
    tls_cert_file: options.tlsCertFile,
    tls_key_file: options.tlsKeyFile,
    docker: { image, pull_policy: ["if-not-present"], privileged },
    kubernetes: {
      image,
      helper_image: helperImage,
      pull_policy: ["if-not-present"],
      kubeconfig: options.kubeconfig,
      namespace: options.kubernetesNamespace,
      node_selector: {},
      tolerations: [],
      image_pull_secrets: [],
      resources: {},
      service_resources: {},
      privileged,
      start_timeout: 180,
    },
    ssh: { host: sshHost, identity_files: options.sshIdentityFile, socket: options.sshSocket },
  };
}

function settingsOf(options: Options): ServerSettings {
  return {
    tag_list: options.tagList,
    run_untagged: options.runUntagged || undefined,
    locked: options.locked || undefined,
    paused: options.paused || undefined,
    access_level: options.accessLevel,
    maximum_timeout: options.maximumTimeout === undefined ? undefined : Math.round(options.maximumTimeout / 1000),
    maintenance_note: options.maintenanceNote,
    description: options.token?.startsWith("glrt-") === true ? undefined : (options.name ?? hostname()),
  };
}
