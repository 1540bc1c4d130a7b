import { PROGRAM_DIR, RUN_DIR, serviceWords, type WantedImage, type WantedService } from "@steps/job-containers";
import type { KubernetesConfig } from "../config/runner-config.ts";
import { RunnerError } from "../runner-error.ts";
import { secretKey } from "./pod-secret.ts";

/** The containers of a pod, as GitLab's runner names them. */
export const JOB_CONTAINER = "build";
export const INIT_CONTAINER = "step-runner";

/** The facts that a pod of a job is made of. */
export interface PodFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly config: KubernetesConfig;
  readonly image: WantedImage;
  readonly services: readonly WantedService[];
  /** The environment of the services, by name. */
  readonly serviceEnv: Readonly<Record<string, string>>;
  /** Whether the secret of the pod has credentials for pulls. */
  readonly hasCredentials: boolean;
  /** The folders that the job may write to. */
  readonly buildsDir: string;
  readonly cacheDir: string;
  /** Seconds after which the cluster ends the pod, whoever still looks after it. */
  readonly deadlineSeconds: number;
}

/**
 * The pod of a job. Its first process is our service, brought by an init container; services are containers beside it, at the
 * loopback interface by their host names. Nothing secret is in it: what services are given is in the secret of the same name.
 */
export function podManifest(facts: PodFacts): object {
  const { name, labels, annotations, config, image, services } = facts;
  const own = facts.hasCredentials ? [{ name }] : [];
  const pullSecrets = [...config.image_pull_secrets.map((secret) => ({ name: secret })), ...own];
  const hostNames = services.flatMap((service) => service.hostNames).filter(isHostName);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, annotations },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: facts.deadlineSeconds,
      terminationGracePeriodSeconds: TERMINATION_SECONDS,
      enableServiceLinks: false,
      // A job has the rights of the account that was chosen for jobs, and none otherwise.
      automountServiceAccountToken: config.service_account !== undefined,
      serviceAccountName: config.service_account,
      nodeSelector: config.node_selector,
      tolerations: config.tolerations,
      imagePullSecrets: pullSecrets,
      hostAliases: hostNames.length === 0 ? [] : [{ ip: "127.0.0.1", hostnames: [...new Set(hostNames)] }],
      volumes: volumesOf(config),
      initContainers: [
        {
          name: INIT_CONTAINER,
          image: config.helper_image,
          imagePullPolicy: pullPolicy(config.pull_policy[0]),
          command: ["step-runner", "bootstrap", PROGRAM_DIR],
          terminationMessagePolicy: "FallbackToLogsOnError",
          volumeMounts: [{ name: "program", mountPath: PROGRAM_DIR }],
        },
      ],
      containers: [jobContainer(facts, image), ...services.map((service, at) => serviceOf(facts, service, at))],
    },
  };
}

const TERMINATION_SECONDS = 10;

/** A name that a pod's hosts file can have: a DNS name in small letters. */
export function isHostName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/u.test(name);
}

function volumesOf({ cache_claim: claim }: KubernetesConfig): readonly object[] {
  return [
    ...["program", "run", "builds"].map((name) => ({ name, emptyDir: {} })),
    claim === undefined
      ? { name: "cache", emptyDir: {} }
      : { name: "cache", persistentVolumeClaim: { claimName: claim } },
  ];
}

function jobContainer({ config, buildsDir, cacheDir }: PodFacts, image: WantedImage): object {
  const entrypoint = (image.entrypoint ?? []).filter((word) => word !== "");
  return {
    name: JOB_CONTAINER,
    ...imageOf(image, config),
    command: [...entrypoint, ...serviceWords(["--retention=168h"])].map(literal),
    resources: config.resources,
    volumeMounts: [
      { name: "program", mountPath: PROGRAM_DIR, readOnly: true },
      { name: "run", mountPath: RUN_DIR },
      { name: "builds", mountPath: buildsDir },
      { name: "cache", mountPath: cacheDir },
    ],
  };
}

function serviceOf({ name, config, serviceEnv, buildsDir }: PodFacts, service: WantedService, index: number): object {
  const env = [
    ...Object.keys(serviceEnv)
      .filter((variable) => !Object.hasOwn(service.variables, variable))
      .map((variable) => fromSecret(name, variable, secretKey(undefined, variable))),
    ...Object.keys(service.variables).map((variable) => fromSecret(name, variable, secretKey(index, variable))),
  ];
  return {
    name: `svc-${index}`,
    ...imageOf(service, config),
    command: service.entrypoint?.filter((word) => word !== "").map(literal),
    args: service.command?.map(literal),
    env,
    resources: config.service_resources,
    volumeMounts: [{ name: "builds", mountPath: buildsDir }],
  };
}

function fromSecret(secret: string, name: string, key: string): object {
  return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
}

function imageOf(image: WantedImage, config: KubernetesConfig): object {
  return {
    image: image.name,
    imagePullPolicy: pullPolicy(image.pullPolicies[0]),
    securityContext: { privileged: config.privileged, ...userOf(image.user) },
  };
}

const POLICIES = { always: "Always", "if-not-present": "IfNotPresent", never: "Never" } as const;

function pullPolicy(policy: keyof typeof POLICIES | undefined): string {
  return POLICIES[policy ?? "if-not-present"];
}

function userOf(user: string | undefined): object {
  if (user === undefined) return {};
  const [, uid, gid] = /^(\d{1,10})(?::(\d{1,10}))?$/u.exec(user) ?? [];
  if (uid === undefined)
    throw new RunnerError("PLACE_FAILED", `The user "${user}" of an image is no number: clusters know UID or UID:GID`);
  return { runAsUser: Number(uid), runAsGroup: gid === undefined ? undefined : Number(gid) };
}

/** A word that the cluster takes as it is: it would fill in `$(NAME)`. */
function literal(word: string): string {
  return word.replaceAll("$(", "$$$$(");
}
