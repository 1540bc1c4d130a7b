import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join, posix } from "node:path";
import { type ContainerCli, findContainerCli } from "@steps/containers";
import {
  type ContainerOptions,
  type KeptContainers,
  openContainers,
  removeContainers,
  reopenContainers,
  type WantedContainers,
} from "@steps/job-containers";
import { RunnerError } from "../runner-error.ts";
import { dialWhileThere } from "./dial-while-there.ts";
import { containerProgram } from "./container-program.ts";
import type { Executor, JobPlace, PlacedJob } from "./executor.ts";
import { absoluteFolder, projectPath, slotPath } from "./job-paths.ts";
import { credentialFor, dockerConfigOf, pullCredentials } from "./pull-credentials.ts";
import { wantedImages } from "./wanted-images.ts";

const BUILDS_DIR = "/builds";
const CACHE_DIR = "/cache";

/**
 * Jobs in containers of this machine, one for the job, with our service as its first process, and one for each service of the job. They
 * outlive the runner, which finds them by the name that it had put on the disk before they were made.
 */
export const dockerExecutor: Executor = {
  sharesService: false,
  folders(job) {
    return {
      buildsDir: BUILDS_DIR,
      projectDir: posix.join(BUILDS_DIR, projectPath(job)),
      cacheDir: posix.join(CACHE_DIR, projectPath(job)),
    };
  },
  async open(job) {
    const cli = findCli();
    const kept = keptOf(job);
    job.remember({ ...job.remembered, containers: kept.id });
    const wanted = wantedOf(job);
    const options = { ...(await optionsOf(job, cli)), kept };
    if (job.isStarted) return placeOf(await reopenContainers(wanted, options));
    // Containers that a killed runner had begun to make are made anew: no service in there knows of the job.
    if (existsSync(kept.folder)) await removeContainers(cli, kept);
    return placeOf(await openContainers(wanted, options));
  },
  async remove(job) {
    if (job.remembered["containers"] === undefined) return;
    if (await removeContainers(findCli(), keptOf(job))) return;
    throw new RunnerError("PLACE_FAILED", `containers with the label steps.job=${keptOf(job).id}`);
  },
};

function placeOf(containers: Awaited<ReturnType<typeof openContainers>>): JobPlace {
  const problem = (): Promise<string | undefined> => containers.problem();
  return { dial: dialWhileThere(containers.dial, problem), env: containers.image.env, problem };
}

function findCli(): ContainerCli {
  const cli = findContainerCli(process.env["PATH"]);
  if (cli !== undefined) return cli;
  throw new RunnerError("PLACE_FAILED", "There is neither docker nor podman on the PATH of the runner");
}

function keptOf({ folder }: PlacedJob): KeptContainers {
  const id = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return { id: `runner-${id}`, folder: join(folder, "containers") };
}

async function optionsOf(job: PlacedJob, cli: ContainerCli): Promise<ContainerOptions> {
  const warn = (text: string): void => job.say(`WARNING: ${text}`);
  const credentials = pullCredentials(dockerConfigOf(job.payload, job.variables["DOCKER_AUTH_CONFIG"], warn));
  return {
    credentialsFor: (image) => credentialFor(image, credentials),
    cli,
    stateDir: job.place.stateDir,
    programDir: await containerProgram(job.place),
    serveFlags: ["--retention=168h"],
    say: job.say,
    warn,
    signal: job.signal,
  };
}

function wantedOf(job: PlacedJob): WantedContainers {
  const { config, place, variables } = job;
  const builds = absoluteFolder("builds_dir", config.builds_dir ?? join(place.stateDir, "builds"));
  const caches = absoluteFolder("cache_dir", config.cache_dir ?? join(place.stateDir, "cache"));
  const source = join(builds, slotPath(job), projectPath(job));
  for (const folder of [source, caches]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    ...wantedImages(job.payload, config.docker, variables),
    serviceEnv: variables,
    project: { source, target: posix.join(BUILDS_DIR, projectPath(job)), isPrivate: true },
    stores: [{ source: caches, target: CACHE_DIR }],
    isPrivileged: config.docker.privileged,
  };
}
