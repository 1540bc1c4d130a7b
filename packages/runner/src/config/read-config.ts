import { parseDocument } from "yaml";
import { RunnerError } from "../runner-error.ts";
import { EXECUTORS, type KubernetesConfig, type RunnerConfig, type RunnersConfig } from "./runner-config.ts";

/** The settings of a file that does not exist yet. */
export const NO_RUNNERS: RunnersConfig = {
  concurrent: 1,
  check_interval: 3,
  unhealthy_requests_limit: 3,
  unhealthy_interval: 3600,
  runners: [],
};

type Fields = Readonly<Record<string, unknown>>;

/** Reads the text of a configuration. @throws {RunnerError} CONFIG_INVALID with the key that is wrong; no values are quoted */
export function readConfig(text: string, file: string): RunnersConfig {
  const document = parseDocument(text, { logLevel: "silent" });
  const [problem] = document.errors;
  if (problem !== undefined) throw invalid(file, `it is no YAML (line ${problem.linePos?.[0].line ?? "?"})`);
  const reader = new Reader(fieldsOf(document.toJS({ maxAliasCount: 0 }) ?? {}, file, "the file"), file, "");
  const config = {
    concurrent: reader.number("concurrent", NO_RUNNERS.concurrent, 1),
    check_interval: reader.number("check_interval", NO_RUNNERS.check_interval),
    unhealthy_requests_limit: reader.number("unhealthy_requests_limit", NO_RUNNERS.unhealthy_requests_limit, 1),
    unhealthy_interval: reader.number("unhealthy_interval", NO_RUNNERS.unhealthy_interval),
    start: reader.object("start"),
    runners: reader.list("runners").map((item, index) => readRunner(item, file, `runners[${index}]`)),
  };
  reader.refuseOthers();
  return config;
}

function readRunner(item: unknown, file: string, at: string): RunnerConfig {
  const reader = new Reader(fieldsOf(item, file, at), file, `${at}.`);
  const docker = reader.inner("docker");
  const kubernetes = reader.inner("kubernetes");
  const ssh = reader.inner("ssh");
  const config: RunnerConfig = {
    name: reader.text("name", "steps"),
    url: reader.text("url"),
    id: reader.number("id", 0),
    token: reader.text("token"),
    token_obtained_at: reader.text("token_obtained_at", ""),
    token_expires_at: reader.optional("token_expires_at"),
    executor: reader.choice("executor", EXECUTORS),
    limit: reader.number("limit", 0),
    request_concurrency: reader.number("request_concurrency", 1, 1),
    output_limit: reader.number("output_limit", 4096, 1),
    environment: reader.texts("environment"),
    builds_dir: reader.optional("builds_dir"),
    cache_dir: reader.optional("cache_dir"),
    tls_ca_file: reader.optional("tls_ca_file"),
    tls_cert_file: reader.optional("tls_cert_file"),
    tls_key_file: reader.optional("tls_key_file"),
    docker: {
      image: docker.text("image", "alpine:latest"),
      pull_policy: docker.choices("pull_policy", PULL_POLICIES, ["if-not-present"]),
      privileged: docker.flag("privileged"),
    },
    kubernetes: readKubernetes(kubernetes),
    ssh: {
      host: ssh.text("host", ""),
      identity_files: ssh.list("identity_files").map(String),
      known_hosts_file: ssh.optional("known_hosts_file"),
      socket: ssh.optional("socket"),
    },
  };
  for (const part of [reader, docker, kubernetes, ssh]) part.refuseOthers();
  if (config.executor === "ssh" && config.ssh.host === "") throw invalid(file, `${at}.ssh.host is missing`);
  if (config.executor === "kubernetes" && config.kubernetes.helper_image === "")
    throw invalid(file, `${at}.kubernetes.helper_image is missing`);
  return config;
}

function readKubernetes(reader: Reader): KubernetesConfig {
  return {
    image: reader.text("image", "alpine:latest"),
    helper_image: reader.text("helper_image", ""),
    pull_policy: reader.choices("pull_policy", PULL_POLICIES, ["if-not-present"]),
    kubeconfig: reader.optional("kubeconfig"),
    context: reader.optional("context"),
    namespace: reader.optional("namespace"),
    service_account: reader.optional("service_account"),
    node_selector: reader.texts("node_selector"),
    tolerations: reader.objects("tolerations"),
    image_pull_secrets: reader.list("image_pull_secrets").map(String),
    resources: reader.object("resources"),
    service_resources: reader.object("service_resources"),
    privileged: reader.flag("privileged"),
    cache_claim: reader.optional("cache_claim"),
    start_timeout: reader.number("start_timeout", 180, 1),
  };
}

const PULL_POLICIES = ["always", "if-not-present", "never"] as const;

/** Reads the fields of one mapping, and knows which of them nobody has asked for. */
class Reader {
  readonly #fields: Fields;
  readonly #file: string;
  readonly #at: string;
  readonly #asked = new Set<string>();

  constructor(fields: Fields, file: string, at: string) {
    this.#fields = fields;
    this.#file = file;
    this.#at = at;
  }

  text(name: string, fallback?: string): string {
    const value = this.#take(name) ?? fallback;
    if (typeof value === "string") return value;
    throw this.#wrong(name, value === undefined ? "is missing" : "must be a text");
  }

  optional(name: string): string | undefined {
    return this.#take(name) === undefined ? undefined : this.text(name);
  }

  number(name: string, fallback: number, min = 0): number {
    const value = this.#take(name) ?? fallback;
    if (typeof value === "number" && Number.isFinite(value) && value >= min) return value;
    throw this.#wrong(name, `must be a number, ${min} or more`);
  }

  flag(name: string): boolean {
    const value = this.#take(name) ?? false;
    if (typeof value === "boolean") return value;
    throw this.#wrong(name, "must be true or false");
  }

  choice<const C extends string>(name: string, choices: readonly C[]): C {
    const found = choices.find((choice) => choice === this.#take(name));
    if (found === undefined) throw this.#wrong(name, `must be one of ${choices.join(", ")}`);
    return found;
  }

  choices<const C extends string>(name: string, choices: readonly C[], fallback: readonly C[]): readonly C[] {
    const value = this.#take(name) ?? fallback;
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    const found = choices.filter((choice) => given.includes(choice));
    if (found.length !== new Set(given).size) throw this.#wrong(name, `takes ${choices.join(", ")}`);
    return given as readonly C[];
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name) ?? [];
    if (Array.isArray(value)) return value as unknown[];
    throw this.#wrong(name, "must be a list");
  }

  texts(name: string): Readonly<Record<string, string>> {
    const fields = fieldsOf(this.#take(name) ?? {}, this.#file, this.#at + name);
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)]));
  }

  object(name: string): object {
    return fieldsOf(this.#take(name) ?? {}, this.#file, this.#at + name);
  }

  objects(name: string): readonly object[] {
    return this.list(name).map((item, index) => fieldsOf(item, this.#file, `${this.#at}${name}[${index}]`));
  }

  inner(name: string): Reader {
    const at = this.#at + name;
    return new Reader(fieldsOf(this.#take(name) ?? {}, this.#file, at), this.#file, `${at}.`);
  }

  /** A key that is misspelt would be passed over in silence. */
  refuseOthers(): void {
    const other = Object.keys(this.#fields).find((name) => !this.#asked.has(name));
    if (other !== undefined) throw this.#wrong(other, "is no setting");
  }

  #take(name: string): unknown {
    this.#asked.add(name);
    return this.#fields[name] ?? undefined;
  }

  #wrong(name: string, problem: string): RunnerError {
    return invalid(this.#file, `${this.#at}${name} ${problem}`);
  }
}

function fieldsOf(value: unknown, file: string, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid(file, `${what} must be a mapping`);
}

function invalid(file: string, problem: string): RunnerError {
  return new RunnerError("CONFIG_INVALID", `The configuration "${file}" cannot be used: ${problem}`);
}
