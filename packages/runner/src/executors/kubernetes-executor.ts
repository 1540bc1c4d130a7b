import { createHash } from "node:crypto";
import { basename, posix } from "node:path";
import { dialKubernetes } from "@steps/dial";
import { awaitArguments, PROGRAM, readPrepared, SOCKET } from "@steps/job-containers";
import { createKubernetesAccess, kubernetesObjects, type KubernetesObjects, runExec } from "@steps/kubernetes";
import { dialWhileThere } from "./dial-while-there.ts";
import type { Executor, JobPlace, PlacedJob, SweptRunner } from "./executor.ts";
import { isHostName, JOB_CONTAINER, podManifest } from "../kubernetes/pod-manifest.ts";
import { secretManifest } from "../kubernetes/pod-secret.ts";
import { type PodPlan, podProblem, removePod, startPod } from "../kubernetes/job-pod.ts";
import { fieldsOf, textOf } from "../kubernetes/pod-state.ts";
import { absoluteFolder, projectPath } from "./job-paths.ts";
import { dockerConfigOf } from "./pull-credentials.ts";
import { wantedImages } from "./wanted-images.ts";

const BUILDS_DIR = "/builds";
const CACHE_DIR = "/cache";
const SERVICES_MS = 30_000;
const EXEC_MS = 30_000;
const LOOK_MS = 15_000;
/** The time that a job may need besides its own: images, and the grace at its end. */
const SPARE_SECONDS = 3600;

/**
 * Jobs in a cluster, each in a pod of its own with its services and with our service as the first process. The pod outlives the
 * runner, which finds it by the name that it had put on the disk before it was made, or by its labels.
 */
export const kubernetesExecutor: Executor = {
  sharesService: false,
  folders(job) {
    const { buildsDir, cacheDir } = rootsOf(job);
    return {
      buildsDir,
      projectDir: posix.join(buildsDir, projectPath(job)),
      cacheDir: posix.join(cacheDir, projectPath(job)),
    };
  },
  async open(job) {
    const { objects } = clusterOf(job);
    const plan = planOf(job);
    job.remember({ ...job.remembered, pod: plan.name });
    if (!job.isStarted) {
      const { say, signal, config } = job;
      await startPod(objects, plan, { startMs: config.kubernetes.start_timeout * 1000, say, signal });
      await awaitServices(job, plan.name);
    }
    return placeOf(job, plan.name);
  },
  async remove(job) {
    const { pod } = job.remembered;
    if (pod !== undefined) await removePod(clusterOf(job).objects, pod);
  },
  async sweep(runner) {
    const { objects } = clusterOf(runner);
    const labels = ownerLabels(runner);
    const left = new Set<string>();
    for (const kind of ["pods", "secrets"] as const) {
      for (const object of await objects.list(kind, labels, AbortSignal.timeout(LOOK_MS))) {
        const metadata = fieldsOf(object, "metadata");
        if (!runner.isKept(textOf(fieldsOf(metadata, "labels"), ATTEMPT))) left.add(textOf(metadata, "name"));
      }
    }
    for (const name of left) await removePod(objects, name);
    return [...left].map((name) => `pod ${JSON.stringify(name)}`);
  },
};

const LABEL = "runner-bridge";
const ATTEMPT = `${LABEL}/attempt`;

/** The labels of all that a process of runners makes: its machine's id and its state directory, which no other has. */
function ownerLabels({ systemId, place }: Pick<SweptRunner, "systemId" | "place">): Readonly<Record<string, string>> {
  return { [`${LABEL}/system`]: systemId, [`${LABEL}/state`]: digest(place.stateDir).slice(0, 12) };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function rootsOf({ config }: Pick<PlacedJob, "config">): { readonly buildsDir: string; readonly cacheDir: string } {
  return {
    buildsDir: absoluteFolder("builds_dir", config.builds_dir ?? BUILDS_DIR),
    cacheDir: absoluteFolder("cache_dir", config.cache_dir ?? CACHE_DIR),
  };
}

function clusterOf({ config }: Pick<PlacedJob, "config">): {
  readonly source: ReturnType<typeof createKubernetesAccess>;
  readonly objects: KubernetesObjects;
} {
  const { kubeconfig, context, namespace } = config.kubernetes;
  const source = createKubernetesAccess({ kubeconfig, context, env: process.env });
  return { source, objects: kubernetesObjects(source, namespace) };
}

function planOf(job: PlacedJob): PodPlan {
  const { config, payload, variables, folder, say } = job;
  const { kubernetes } = config;
  const { image, services } = wantedImages(payload, { ...kubernetes, userOf: "kubernetes" }, variables);
  const attempt = basename(folder).split("-").at(-1) ?? "";
  const name = job.remembered["pod"] ?? `runner-${payload.id}-${digest(`${job.systemId} ${folder}`).slice(0, 16)}`;
  const labels = {
    "app.kubernetes.io/managed-by": LABEL,
    [`${LABEL}/job`]: String(payload.id),
    [ATTEMPT]: attempt,
    ...ownerLabels(job),
  };
  for (const hostName of services.flatMap((service) => service.hostNames.slice(0, 1)))
    if (!isHostName(hostName)) say(`WARNING: "${hostName}" cannot be the name of a host in a pod`);
  const dockerConfig = dockerConfigOf(payload, variables["DOCKER_AUTH_CONFIG"], (text) => say(`WARNING: ${text}`));
  const serviceEnv = Object.fromEntries(
    Object.entries(variables).filter(([variable]) => /^[A-Za-z_][A-Za-z0-9_]*$/u.test(variable)),
  );
  const { timeout } = payload.runner_info;
  const pod = podManifest({
    name,
    labels,
    annotations: { [`${LABEL}/project`]: projectPath(job), [`${LABEL}/name`]: payload.job_info.name },
    config: kubernetes,
    image,
    services,
    serviceEnv,
    hasCredentials: dockerConfig !== undefined,
    ...rootsOf(job),
    deadlineSeconds: (timeout === 0 ? 2 * 3600 : timeout) + SPARE_SECONDS,
  });
  return { name, pod, secret: secretManifest({ name, labels, services, serviceEnv, dockerConfig }) };
}

function placeOf(job: PlacedJob, pod: string): JobPlace {
  const { kubeconfig, context, namespace } = job.config.kubernetes;
  const { objects } = clusterOf(job);
  const problem = (): Promise<string | undefined> => podProblem(objects, pod, AbortSignal.timeout(LOOK_MS));
  const dial = dialKubernetes({
    pod,
    container: JOB_CONTAINER,
    command: [PROGRAM, "proxy", `--socket=${SOCKET}`],
    ...(namespace !== undefined && { namespace }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
  return {
    dial: dialWhileThere(dial, problem),
    env: {},
    problem,
  };
}

/** Waits for the services that name a port, from where the job sees them. */
async function awaitServices(job: PlacedJob, pod: string): Promise<void> {
  const { payload, variables, config, say, signal } = job;
  const awaited = payload.services.flatMap(({ name, variables: own }) => {
    const port = Number(
      own.findLast(({ key }) => key === "HEALTHCHECK_TCP_PORT")?.value ?? variables["HEALTHCHECK_TCP_PORT"],
    );
    return Number.isInteger(port) && port > 0 && port < 65_536 ? [{ name, host: "127.0.0.1", ports: [port] }] : [];
  });
  if (awaited.length === 0) return;
  say(`Waiting for services to be up and running (timeout ${SERVICES_MS / 1000} seconds)`);
  const { outcome, stdout, stderr } = await runExec(clusterOf(job).source, {
    namespace: config.kubernetes.namespace,
    pod,
    container: JOB_CONTAINER,
    argv: awaitArguments(awaited, SERVICES_MS),
    timeoutMs: EXEC_MS,
    pingIntervalMs: EXEC_MS,
    signal: AbortSignal.any([signal, AbortSignal.timeout(SERVICES_MS + EXEC_MS)]),
  });
  const prepared = outcome.kind === "exited" && outcome.exitCode === 0 ? readPrepared(stdout) : undefined;
  if (prepared === undefined) say(`WARNING: the services could not be waited for: ${stderr.trim().slice(-500)}`);
  for (const name of prepared?.silent ?? [])
    say(`WARNING: The service ${name} probably did not start properly: its port does not answer`);
}
