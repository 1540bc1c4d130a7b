import { spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import type { ClusterObject, ClusterObjects } from "./kubernetes-cluster.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
}

interface PodSpec {
  readonly volumes?: readonly { readonly name: string }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames: readonly string[] }[];
}

/** The name of a container of a pod for Docker. */
export function dockerName(pod: ClusterObject, container: string): string {
  return `k8s-${pod.metadata.uid}-${container}`;
}

/**
 * A node of the test double that runs the containers of pods by Docker: one network and one hosts file for all of a pod, its
 * volumes, its init containers one after the other, and then the rest. It pulls no images: one that is not here cannot be had.
 */
export class DockerNode {
  readonly #objects: ClusterObjects;
  /** The image of the container that holds the network of a pod: it needs `sleep`. */
  readonly #pause: string;
  readonly #work = new Set<Promise<void>>();
  /** As a scheduler without a node for it: then pods wait. */
  isFull = false;

  constructor(objects: ClusterObjects, pauseImage: string) {
    this.#objects = objects;
    this.#pause = pauseImage;
    objects.onPod = (pod) => this.#do(pod, this.#run(pod));
    objects.onRemoval = (pod) => this.#do(pod, this.#remove(pod));
  }

  /** Ends a pod as a node does that runs short of something. */
  async evict(pod: ClusterObject, message: string): Promise<void> {
    this.#objects.change("pods", pod, { status: { phase: "Failed", reason: "Evicted", message } });
    await this.#clear(pod);
  }

  /** Removes all that is left. */
  async close(): Promise<void> {
    for (const pod of this.#objects.list("pods")) await this.#clear(pod);
    await Promise.allSettled(this.#work);
  }

  #do(pod: ClusterObject, work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => this.#status(pod, { phase: "Failed", reason: "NodeError", message: String(error) }))
      .finally(() => this.#work.delete(guarded));
    this.#work.add(guarded);
  }

  #status(pod: ClusterObject, status: object): void {
    this.#objects.change("pods", pod, { status });
  }

  async #run(pod: ClusterObject): Promise<void> {
    if (this.isFull) {
      const message = "0/1 nodes are available: 1 Insufficient cpu.";
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
      return this.#status(pod, { phase: "Pending", conditions: [condition] });
    }
    const spec = pod["spec"] as PodSpec;
    const hosts = (spec.hostAliases ?? []).flatMap(({ ip, hostnames }) =>
      hostnames.map((name) => `--add-host=${name}:${ip}`),
    );
    const own = ["--network=none", `--name=${dockerName(pod, "pause")}`, ...hosts];
    await docker(["run", "--detach", ...own, this.#pause, "/bin/sleep", "3600"]);
    for (const { name } of spec.volumes ?? []) await docker(["volume", "create", dockerName(pod, name)]);
    const initial: object[] = [];
    for (const container of spec.initContainers ?? []) {
      const { exitCode, state } = await this.#start(pod, container, ["--attach=stdout", "--attach=stderr"]);
      initial.push(statusOf(container, state));
      if (exitCode === 0) continue;
      const phase = "terminated" in state ? "Failed" : "Pending";
      return this.#status(pod, { phase, initContainerStatuses: initial });
    }
    const states = new Map<Container, object>();
    const tell = (phase: string): void =>
      this.#status(pod, {
        phase,
        initContainerStatuses: initial,
        containerStatuses: [...states].map(([container, state]) => statusOf(container, state)),
      });
    for (const container of spec.containers) states.set(container, { waiting: { reason: "PodInitializing" } });
    for (const container of spec.containers) {
      states.set(container, (await this.#start(pod, container, ["--detach"])).state);
      tell("Pending");
    }
    if ([...states.values()].some((state) => "waiting" in state)) return;
    tell("Running");
    await Promise.all(
      spec.containers.map(async (container) => {
        const code = Number(await docker(["wait", dockerName(pod, container.name)]).catch(() => "137"));
        states.set(container, { terminated: await this.#end(pod, container, code) });
        const isOver = [...states.values()].every((state) => "terminated" in state);
        if (isKnown(this.#objects, pod)) tell(isOver ? "Failed" : "Running");
      }),
    );
  }

  async #start(
    pod: ClusterObject,
    container: Container,
    options: readonly string[],
  ): Promise<{ readonly exitCode: number; readonly state: object }> {
    if ((await docker(["image", "inspect", container.image]).catch(() => "")) === "") {
      const message = `Back-off pulling image "${container.image}": ErrImagePull: not found`;
      return { exitCode: -1, state: { waiting: { reason: "ImagePullBackOff", message } } };
    }
    const env = Object.fromEntries((container.env ?? []).map((item) => [item.name, this.#valueOf(pod, item)]));
    const missing = Object.keys(env).find((name) => env[name] === undefined);
    if (missing !== undefined) {
      const message = `couldn't find key ${missing} in Secret`;
      return { exitCode: -1, state: { waiting: { reason: "CreateContainerConfigError", message } } };
    }
    const [program, ...words] = (container.command ?? []).map((word) => expand(word, env));
    const { memory } = container.resources?.limits ?? {};
    const args = [
      "run",
      ...options,
      `--name=${dockerName(pod, container.name)}`,
      `--network=container:${dockerName(pod, "pause")}`,
      ...(container.volumeMounts ?? []).map(
        ({ name, mountPath, readOnly }) =>
          `--volume=${dockerName(pod, name)}:${mountPath}${readOnly === true ? ":ro" : ""}`,
      ),
      ...Object.keys(env).map((name) => `--env=${name}`),
      ...(memory === undefined ? [] : [`--memory=${memory.replace("Mi", "m")}`, "--memory-swap=-1"]),
      ...(program === undefined ? [] : [`--entrypoint=${program}`]),
      container.image,
      ...words,
      ...(container.args ?? []).map((word) => expand(word, env)),
    ];
    try {
      await docker(args, env as Record<string, string>);
      const isOver = !options.includes("--detach");
      return { exitCode: 0, state: isOver ? { terminated: { exitCode: 0, reason: "Completed" } } : { running: {} } };
    } catch (error) {
      const message = String(error instanceof Error ? error.message : error);
      return { exitCode: 1, state: { terminated: { exitCode: 1, reason: "Error", message } } };
    }
  }

  #valueOf(pod: ClusterObject, item: NonNullable<Container["env"]>[number]): string | undefined {
    const reference = item.valueFrom?.secretKeyRef;
    if (reference === undefined) return item.value;
    const secret = this.#objects.find("secrets", pod.metadata.namespace, reference.name);
    return (secret?.["stringData"] as Record<string, string> | undefined)?.[reference.key];
  }

  async #end(pod: ClusterObject, { name }: Container, exitCode: number): Promise<object> {
    const format = "--format={{.State.OOMKilled}}";
    const isOut = (await docker(["inspect", format, dockerName(pod, name)]).catch(() => "")).trim() === "true";
    return { exitCode, reason: isOut ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error" };
  }

  async #remove(pod: ClusterObject): Promise<void> {
    await this.#clear(pod);
    this.#objects.forget("pods", pod);
  }

  async #clear(pod: ClusterObject): Promise<void> {
    const spec = pod["spec"] as PodSpec;
    const containers = [...(spec.initContainers ?? []), ...spec.containers, { name: "pause" }];
    const names = containers.map(({ name }) => dockerName(pod, name)).toReversed();
    await docker(["rm", "--force", "--volumes", ...names]).catch(() => undefined);
    const volumes = (spec.volumes ?? []).map(({ name }) => dockerName(pod, name));
    await docker(["volume", "rm", "--force", ...volumes]).catch(() => undefined);
  }
}

function isKnown(objects: ClusterObjects, pod: ClusterObject): boolean {
  const known = objects.find("pods", pod.metadata.namespace, pod.metadata.name);
  return known?.metadata.uid === pod.metadata.uid && (known["status"] as { reason?: string }).reason === undefined;
}

/** As a cluster fills in `$(NAME)`, and takes `$$(` for a literal one. */
function expand(word: string, env: Readonly<Record<string, string | undefined>>): string {
  return word.replaceAll(/\$\$\(|\$\(([^)]*)\)/gu, (found: string, name?: string) =>
    name === undefined ? "$(" : (env[name] ?? found),
  );
}

function statusOf({ name, image }: Container, state: object): object {
  return { name, image, ready: "running" in state, state };
}

async function docker(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn("docker", args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [stdout, stderr, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
  if (code !== 0) throw new Error(`docker ${args[0]} ended with ${code}: ${stderr.toString().trim()}`);
  return stdout.toString();
}
