/** The kinds of places that jobs run in. */
export const EXECUTORS = ["host", "docker", "kubernetes", "ssh"] as const;

/** A kind of place that jobs run in. */
export type ExecutorName = (typeof EXECUTORS)[number];

/** The settings of all runners of one process, as its file has them. Times are seconds. */
export interface RunnersConfig {
  /** Jobs at once, of all runners together. */
  readonly concurrent: number;
  /** The least time between two requests of a runner that was given no job. */
  readonly check_interval: number;
  /** A runner is switched off when the server has refused this many of its requests in a row. */
  readonly unhealthy_requests_limit: number;
  /** How long it is off then. */
  readonly unhealthy_interval: number;
  /** Flags of `runner-bridge start` by their names, which the command reads itself. */
  readonly start?: object | undefined;
  readonly runners: readonly RunnerConfig[];
}

/** The settings of one runner. */
export interface RunnerConfig {
  readonly name: string;
  /** The URL of the server, without `/api/v4`. */
  readonly url: string;
  /** The number that the server has given the runner. */
  readonly id: number;
  readonly token: string;
  readonly token_obtained_at: string;
  /** Absent: never. */
  readonly token_expires_at?: string | undefined;
  readonly executor: ExecutorName;
  /** Jobs at once of this runner; 0: as many as `concurrent` allows. */
  readonly limit: number;
  /** Requests for jobs at once. */
  readonly request_concurrency: number;
  /** The length of a trace after which nothing more of it is kept, in KiB. */
  readonly output_limit: number;
  /** Variables that every job is given, unless it has its own of that name. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder with the projects of jobs, where they run. Absent: below the state directory, `/builds` in containers. */
  readonly builds_dir?: string | undefined;
  /** The folder with the caches of jobs, where they run. Absent: below the state directory. */
  readonly cache_dir?: string | undefined;
  /** Files in PEM, for servers that the system does not trust, or that want to know who calls. */
  readonly tls_ca_file?: string | undefined;
  readonly tls_cert_file?: string | undefined;
  readonly tls_key_file?: string | undefined;
  readonly docker: DockerConfig;
  readonly kubernetes: KubernetesConfig;
  readonly ssh: SshConfig;
}

/** The settings for containers on this machine. */
export interface DockerConfig {
  /** For jobs that name none. */
  readonly image: string;
  /** When an image is fetched, for jobs that do not say: each is tried until one gives it. */
  readonly pull_policy: readonly ("always" | "if-not-present" | "never")[];
  readonly privileged: boolean;
}

/** The settings for pods of a cluster. Objects are as in a manifest of Kubernetes. */
export interface KubernetesConfig {
  /** For jobs that name none. */
  readonly image: string;
  /** An image with `step-runner` on its PATH, which brings the program into the pods. */
  readonly helper_image: string;
  /** When an image is fetched, for jobs that do not say; the first counts. */
  readonly pull_policy: DockerConfig["pull_policy"];
  /** The file and the context that say where the cluster is. Absent: those of kubectl, or the account of the pod we run in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Absent: that of the context or of the account. */
  readonly namespace?: string | undefined;
  /** The account of the jobs. Absent: they have no rights in the cluster. */
  readonly service_account?: string | undefined;
  readonly node_selector: Readonly<Record<string, string>>;
  readonly tolerations: readonly object[];
  /** The names of secrets with credentials for pulls, besides those that jobs bring. */
  readonly image_pull_secrets: readonly string[];
  /** `requests` and `limits`, of the job's container and of each service. */
  readonly resources: object;
  readonly service_resources: object;
  readonly privileged: boolean;
  /** A claim of a volume for caches. Absent: they go with the pod. */
  readonly cache_claim?: string | undefined;
  /** Seconds until the containers of a pod have to run. */
  readonly start_timeout: number;
}

/** The settings for a machine with a service that runs. */
export interface SshConfig {
  /** `[USER@]HOST[:PORT]`. */
  readonly host: string;
  /** Private keys. Empty: the user's own, and those of the agent. */
  readonly identity_files: readonly string[];
  /** Absent: those of the user and of the machine. */
  readonly known_hosts_file?: string | undefined;
  /** The socket of the service there. Absent: its usual places. */
  readonly socket?: string | undefined;
}
