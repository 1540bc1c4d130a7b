import { Pod } from "kubernetes-models/v1/Pod";
import { Secret } from "kubernetes-models/v1/Secret";
import { expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import type { KubernetesConfig } from "../config/runner-config.ts";
import { isHostName, podManifest, type PodFacts } from "./pod-manifest.ts";
import { secretManifest } from "./pod-secret.ts";

function config(section: string): KubernetesConfig {
  const text = `runners:\n  - {url: "https://x", token: t, executor: kubernetes, kubernetes: ${section}}\n`;
  return readConfig(text, "f").runners[0]?.kubernetes as KubernetesConfig;
}

const services = [
  {
    name: "postgres:16",
    pullPolicies: ["always"],
    hostNames: ["db", "postgres", "not_a_host"],
    command: ["-c", "echo $(A)"],
    variables: { OWN: "own" },
  },
] as const;
const facts: PodFacts = {
  name: "runner-1-abc",
  labels: { "runner-bridge/job": "1" },
  annotations: {},
  config: config(`{
    helper_image: h, resources: {limits: {cpu: "1", memory: 64Mi}}, node_selector: {disk: ssd}, service_account: jobs,
    tolerations: [{key: ci, operator: Exists}], image_pull_secrets: [registry], cache_claim: caches}`),
  image: { name: "app:1", pullPolicies: [], entrypoint: ["/tini", "--"], user: "1000:100" },
  services,
  serviceEnv: { SECRET: "s3cret", OWN: "of the job" },
  hasCredentials: true,
  buildsDir: "/builds",
  cacheDir: "/cache",
  deadlineSeconds: 7200,
};
const labels = {};
const secretFacts = { name: "runner-1-abc", labels, services, serviceEnv: facts.serviceEnv, dockerConfig: "{}" };

test("podManifest() and secretManifest() are what the schemas of Kubernetes want", () => {
  new Pod(json(podManifest(facts)) as ConstructorParameters<typeof Pod>[0]).validate();
  new Secret(json(secretManifest(secretFacts)) as ConstructorParameters<typeof Secret>[0]).validate();
});

test("podManifest() has the settings of the configuration, and no secret", () => {
  const { spec } = json(podManifest(facts)) as { spec: { containers: Record<string, unknown>[] } };
  expect(spec).toMatchObject({
    restartPolicy: "Never",
    activeDeadlineSeconds: 7200,
    serviceAccountName: "jobs",
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "ci", operator: "Exists" }],
    imagePullSecrets: [{ name: "registry" }, { name: "runner-1-abc" }],
    hostAliases: [{ ip: "127.0.0.1", hostnames: ["db", "postgres"] }],
  });
  const [job, service] = spec.containers;
  expect(job).toMatchObject({ resources: { limits: { memory: "64Mi" } }, securityContext: { runAsUser: 1000 } });
  expect(job?.["command"]).toEqual(expect.arrayContaining(["/tini", "--", "/.step-runner/bin/step-runner", "serve"]));
  expect(service).toMatchObject({ args: ["-c", "echo $$(A)"], imagePullPolicy: "Always" });
  const env = service?.["env"] as { name: string; valueFrom: { secretKeyRef: { key: string } } }[];
  const { stringData } = secretManifest(secretFacts) as { stringData: Record<string, string> };
  expect(env.map(({ name, valueFrom }) => [name, stringData[valueFrom.secretKeyRef.key]])).toEqual([
    ["SECRET", "s3cret"],
    ["OWN", "own"],
  ]);
  expect(JSON.stringify(podManifest(facts))).not.toContain("s3cret");
});

test("podManifest() gives jobs no rights in the cluster unless an account is named, and no user that is no number", () => {
  const plain = json(podManifest({ ...facts, config: config("{helper_image: h}") }));
  expect(plain).toMatchObject({ spec: { automountServiceAccountToken: false } });
  expect(plain).not.toHaveProperty("spec.serviceAccountName");
  expect(() => podManifest({ ...facts, image: { ...facts.image, user: "root" } })).toThrow('The user "root"');
});

test("isHostName() takes DNS names in small letters alone", () => {
  expect(["db", "a.b-c", "1"].filter(isHostName)).toHaveLength(3);
  expect(["a_b", "-a", "A", "", "a..b", "a".repeat(254)].filter(isHostName)).toEqual([]);
});

test("a mistake in the section of a cluster is named by its place", () => {
  expect(() => config("{}")).toThrow("runners[0].kubernetes.helper_image is missing");
  expect(() => config("{helper_image: h, tolerations: [1]}")).toThrow("kubernetes.tolerations[0] must be a mapping");
  expect(() => config("{helper_image: h, resource: {}}")).toThrow("kubernetes.resource is no setting");
});

function json(value: unknown): object {
  return JSON.parse(JSON.stringify(value)) as object;
}
