import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  ClusterObjects,
  DockerNode,
  type KubernetesServer,
  type KubernetesServerOptions,
  startKubernetesServer,
  tempDir,
  writeKubeconfig,
} from "@steps/testkit";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  busyboxImage,
  createRunner,
  numbersIn,
  numbersTo,
  type RunnerWorld,
  scriptJob,
  countingScript,
  killWhileItCounts,
} from "./runner-harness.ts";

const BIN = resolve(import.meta.dirname, "../../../node_modules/.bin");
const id = randomBytes(4).toString("hex");
const image = busyboxImage(`steps-kubernetes-test-${id}`);
const helper = image === undefined ? "" : helperImage(`steps-kubernetes-helper-${id}`);
afterAll(() => {
  if (image !== undefined) spawnSync("docker", ["image", "rm", "-f", image, helper], { stdio: "ignore" });
});

/** An image with nothing but the program, as the guide makes it. */
function helperImage(name: string): string {
  const root = tempDir();
  mkdirSync(join(root, "tmp"));
  const { status, stderr } = spawnSync(join(BIN, "step-runner"), ["bootstrap", join(root, "bin")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  spawnSync("sh", ["-c", `tar -C "$0" -c . | docker import -c 'ENV PATH=/bin' - "$1"`, root, name]);
  return name;
}

interface Cluster {
  readonly server: KubernetesServer;
  readonly objects: ClusterObjects;
  readonly node: DockerNode;
  readonly kubeconfig: string;
}

async function createCluster(options: Partial<KubernetesServerOptions> = {}): Promise<Cluster> {
  const objects = new ClusterObjects();
  const node = new DockerNode(objects, image ?? "");
  const server = await startKubernetesServer({ pods: [], objects, ...options });
  onTestFinished(async () => {
    await node.close();
    await server.close();
  });
  return { server, objects, node, kubeconfig: await writeKubeconfig(server) };
}

async function createKubernetesRunner({ kubeconfig }: Cluster): Promise<RunnerWorld> {
  const flags = ["--executor", "kubernetes", "--kubernetes-helper-image", helper, "--kubeconfig", kubeconfig];
  return await createRunner(...flags, "--kubernetes-namespace", "ci");
}

function variables(): readonly object[] {
  return [
    { key: "GIT_STRATEGY", value: "none" },
    { key: "IMAGE", value: image },
    { key: "SECRET", value: "in-the-secret-alone" },
  ];
}

describe.skipIf(image === undefined)("the Kubernetes executor", () => {
  test("runs a job in a pod, re-attaches after cuts and kills: each byte once, and nothing is left", async () => {
    let cuts = 0;
    const cluster = await createCluster({ onExec: () => (cuts++ < 6 ? { dropAfterBytes: 1200 } : undefined) });
    const world = await createKubernetesRunner(cluster);
    const job = world.server.queue(
      scriptJob(1, countingScript(10), { image: { name: "$IMAGE" }, variables: variables() }),
    );
    await killWhileItCounts(world, job, [20, 200]);
    const [pod] = cluster.objects.list("pods");
    expect(pod?.metadata).toMatchObject({ namespace: "ci", labels: { "runner-bridge/job": "1" } });
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    expect(job.trace.toString()).toContain("\n/builds/group/project\n");
    expect(numbersIn(job.trace)).toEqual(numbersTo(600));
    expect(job.trace.toString().match(/^run$/gmu)).toHaveLength(1);
    // More than one for each start.
    expect(cuts).toBeGreaterThan(3);
    runner.child.kill("SIGTERM");
    await runner.ended;
    await untilEmpty(cluster);
    expect(world.kept()).toEqual([]);
    expect(callsWithoutRight(cluster)).toEqual([]);
  });

  test("services are at their aliases with the variables of the job, which no manifest holds", async () => {
    const cluster = await createCluster();
    const world = await createKubernetesRunner(cluster);
    const services = [
      {
        name: image,
        alias: "store",
        command: ["/bin/sh", "-c", 'echo "$SECRET $(echo $OWN)" >/builds/seen; exec sleep 600'],
        variables: [{ key: "OWN", value: "of the service" }],
      },
    ];
    const script = ["cat /etc/hosts", "while [ ! -s /builds/seen ]; do sleep 0.1; done; cat /builds/seen"];
    const job = world.server.queue(
      scriptJob(2, script, {
        image: { name: image },
        services,
        variables: variables(),
        credentials: [{ type: "registry", url: "registry.example.com", username: "ci", password: "pass-of-registry" }],
      }),
    );
    const seen: string[] = [];
    const onPod = cluster.objects.onPod;
    cluster.objects.onPod = (pod) => {
      seen.push(JSON.stringify(pod));
      onPod(pod);
    };
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.trace.toString()).toMatch(/127\.0\.0\.1\s+store/u);
    expect(job.trace.toString()).toContain("in-the-secret-alone of the service");
    expect(job.end).toMatchObject({ state: "success" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toMatch(/in-the-secret-alone|pass-of-registry/u);
    runner.child.kill("SIGTERM");
    await runner.ended;
    await untilEmpty(cluster);
  });

  test("names why a pod is no place: an image, an eviction, a removal", async () => {
    const cluster = await createCluster();
    const world = await createKubernetesRunner(cluster);
    const runner = world.start();
    const features = { failure_reasons: ["image_pull_failure", "runner_system_failure"] };
    const begin = (job: number, more: object): ReturnType<typeof world.server.queue> =>
      world.server.queue(
        scriptJob(job, ["echo n1", "sleep 60"], { image: { name: image }, features, variables: variables(), ...more }),
      );
    const missing = begin(10, { image: { name: "registry.invalid/none:1" } });
    await world.server.until(() => missing.end);
    expect(missing.end).toMatchObject({ state: "failed", failure_reason: "image_pull_failure" });
    expect(missing.trace.toString()).toContain('the image "registry.invalid/none:1" cannot be had: ImagePullBackOff');

    const evicted = begin(11, {});
    await world.server.until(() => numbersIn(evicted.trace).length > 0);
    await cluster.node.evict(podOf(cluster, 11), "The node was low on resource: memory.");
    await world.server.until(() => evicted.end);
    expect(evicted.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
    expect(evicted.trace.toString()).toContain("the pod has failed: Evicted: The node was low on resource: memory.");

    const removed = begin(12, {});
    await world.server.until(() => numbersIn(removed.trace).length > 0);
    await fetch(`${cluster.server.url}/api/v1/namespaces/ci/pods/${podOf(cluster, 12).metadata.name}`, {
      method: "DELETE",
    });
    await world.server.until(() => removed.end);
    expect(removed.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
    expect(removed.trace.toString()).toMatch(/the pod .*(?:is gone|is being removed|has ended|exit code 137)/u);
    runner.child.kill("SIGTERM");
    await runner.ended;
    await untilEmpty(cluster);
  });

  test("waits for a node, and removes what a runner has left whose files are gone", async () => {
    const cluster = await createCluster();
    cluster.node.isFull = true;
    const world = await createKubernetesRunner(cluster);
    const job = world.server.queue(
      scriptJob(20, ["echo n1"], { image: { name: image }, services: [{ name: image }], variables: variables() }),
    );
    const first = world.start();
    await world.server.until(() => job.trace.toString().includes("Insufficient cpu"));
    expect(job.trace.toString()).toContain("Waiting for the pod: Unschedulable: 0/1 nodes are available");
    first.child.kill("SIGKILL");
    await first.ended;
    expect(cluster.objects.list("secrets")[0]?.metadata.ownerReferences).toMatchObject([
      { kind: "Pod", uid: podOf(cluster, 20).metadata.uid },
    ]);
    spawnSync("rm", ["-rf", join(world.dir, "state/runner-bridge/runner/jobs")]);
    const second = world.start();
    await untilEmpty(cluster);
    second.child.kill("SIGTERM");
    await second.ended;
  });
});

function podOf({ objects }: Cluster, job: number): ReturnType<ClusterObjects["list"]>[number] {
  const pod = objects.list("pods").find(({ metadata }) => metadata.labels?.["runner-bridge/job"] === String(job));
  if (pod === undefined) throw new Error(`There is no pod of job ${job}`);
  return pod;
}

/** The calls that the role of the guide's runner does not allow. */
function callsWithoutRight({ server }: Cluster): readonly string[] {
  const manifests = readFileSync(resolve(import.meta.dirname, "../../../deploy/kubernetes/runner.yml"), "utf8");
  const role = parseAllDocuments(manifests)
    .map((document) => document.toJS() as { kind: string; rules: { resources: string[]; verbs: string[] }[] })
    .find(({ kind }) => kind === "Role");
  const verbs: Readonly<Record<string, string>> = { POST: "create", PATCH: "patch", DELETE: "delete", GET: "get" };
  return server.requests.flatMap(({ method, path, query }) => {
    const [, resource = "", name, sub] = /namespaces\/ci\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/u.exec(path) ?? [];
    const isList = method === "GET" && name === undefined;
    const verb = query.get("watch") === "true" ? "watch" : isList ? "list" : (verbs[method] ?? method);
    const target = sub === undefined ? resource : `${resource}/${sub}`;
    const isAllowed = role?.rules.some((rule) => rule.resources.includes(target) && rule.verbs.includes(verb));
    return isAllowed === true ? [] : [`${verb} ${target}`];
  });
}

/** Waits until the node has ended all pods, and their secrets have gone with them. */
async function untilEmpty({ objects }: Cluster): Promise<void> {
  while (objects.list("pods").length + objects.list("secrets").length > 0) await delay(50);
}
