import { type Diagnostic, nearest, type Source } from "@steps/model/diagnostic";
import { describeNode, readYaml, Report, type SourceCode, type YamlMapping, type YamlNode } from "@steps/source";
import { ROUTER_DEFAULTS, type RouterConfig, type RouterPod } from "./router-config.ts";

const KEYS = ["default", "idle-timeout", "max-connections", "max-requests", "pods", "redirect-artifacts"] as const;
/** The keys with flags of the commands that read the file: they are read with the command line. */
const FLAG_KEYS = ["daemon", "router"] as const;
const POD_KEYS = ["jobs", "number", "public-url", "url"] as const;
/** A pod of ours has a number from 1, and 0 is left for a daemon; a cell of GitLab may have any. */
const MAX_NUMBER = 2 ** 31;

/** A configuration, or what is wrong with its text. */
export interface ReadRouterConfig {
  /** Absent if there was an error. */
  readonly config?: RouterConfig | undefined;
  readonly diagnostics: readonly Diagnostic<SourceCode>[];
}

/**
 * Reads the configuration of a router, YAML or JSON. Every key has to be known and every value has to make sense, since a router
 * that understood half of its file would send runners to the wrong pods.
 */
export function readRouterConfig(source: Source): ReadRouterConfig {
  const { documents, diagnostics } = readYaml(source);
  const report = new Report<never, SourceCode>();
  report.include(diagnostics);
  const [document, second] = documents;
  if (second !== undefined) report.error(second, { code: "too-many-documents", message: "There is a second document" });
  const config = report.hasErrors ? undefined : readDocument(document, report);
  return { config: report.hasErrors ? undefined : config, diagnostics: report.finish() };
}

function readDocument(document: YamlNode | undefined, report: Report): RouterConfig | undefined {
  const mapping = mappingOf(document, [...KEYS, ...FLAG_KEYS], report);
  if (mapping === undefined) return undefined;
  const pods = readPods(mapping, report);
  const number = readNumber(mapping, "default", report, 0, MAX_NUMBER);
  if (number !== undefined && !pods.has(number)) {
    report.error(valueOf(mapping, "default"), { code: "invalid-reference", message: `There is no pod ${number}` });
  }
  const idleTimeout = readNumber(mapping, "idle-timeout", report, 1, 86_400);
  return {
    pods,
    defaultPod: number === undefined ? undefined : pods.get(number),
    redirectsArtifacts: readFlag(mapping, "redirect-artifacts", report) ?? ROUTER_DEFAULTS.redirectsArtifacts,
    maxRequestsPerPod: readNumber(mapping, "max-requests", report, 1, 1_000_000) ?? ROUTER_DEFAULTS.maxRequestsPerPod,
    maxConnections: readNumber(mapping, "max-connections", report, 1, 1_000_000) ?? ROUTER_DEFAULTS.maxConnections,
    idleTimeoutMs: idleTimeout === undefined ? ROUTER_DEFAULTS.idleTimeoutMs : idleTimeout * 1000,
  };
}

function readPods(mapping: YamlMapping, report: Report): ReadonlyMap<number, RouterPod> {
  const pods = new Map<number, RouterPod>();
  const list = valueOf(mapping, "pods");
  if (list?.kind !== "list" || list.items.length === 0) {
    const message = list === undefined ? `"pods" is missing` : `"pods" is a list of pods, not ${describeNode(list)}`;
    report.error(list ?? mapping, { code: list === undefined ? "missing-key" : "wrong-type", message });
    return pods;
  }
  for (const item of list.items) {
    const pod = readPod(item, report);
    if (pod === undefined) continue;
    const other = Array.from(pods.values()).find(({ jobs }) => overlap(jobs, pod.jobs));
    if (pods.has(pod.number)) {
      report.error(item, { code: "duplicate-name", message: `There is another pod ${pod.number}` });
    } else if (other !== undefined) {
      report.error(item, {
        code: "conflicting-keys",
        message: `Pod ${other.number} has ids of jobs that this one has too`,
      });
    } else pods.set(pod.number, pod);
  }
  return pods;
}

function readPod(node: YamlNode, report: Report): RouterPod | undefined {
  const mapping = mappingOf(node, POD_KEYS, report);
  if (mapping === undefined) return undefined;
  for (const key of ["number", "url"]) {
    if (!mapping.entries.has(key))
      report.error(node, { code: "missing-key", message: `"${key}" of the pod is missing` });
  }
  const number = readNumber(mapping, "number", report, 0, MAX_NUMBER);
  const url = readUrl(mapping, "url", report);
  if (number === undefined || url === undefined) return undefined;
  return { number, url, publicUrl: readUrl(mapping, "public-url", report), jobs: readJobs(mapping, report) };
}

function readUrl(mapping: YamlMapping, key: string, report: Report): URL | undefined {
  const node = valueOf(mapping, key);
  if (node === undefined) return undefined;
  const url = node.kind === "scalar" && typeof node.value === "string" ? URL.parse(node.value) : null;
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash === "";
  if (url !== null && isPlain && url.username + url.password === "") return url;
  const hint = "Write http:// or https://, a host and perhaps a port.";
  // The text is not quoted: it may hold a password.
  report.error(node, {
    code: "invalid-value",
    message: `"${key}" is no URL of a server, without a path and a user`,
    hint,
  });
  return undefined;
}

function readJobs(mapping: YamlMapping, report: Report): readonly [number, number] | undefined {
  const node = valueOf(mapping, "jobs");
  if (node === undefined) return undefined;
  const text = node.kind === "scalar" ? node.text : "";
  const [first, last] = (/^(\d{1,16})-(\d{1,16})$/.exec(text)?.slice(1) ?? []).map(Number);
  if (first !== undefined && last !== undefined && first <= last && Number.isSafeInteger(last)) return [first, last];
  report.error(node, { code: "invalid-value", message: `"jobs" are the first and the last id of a job: 1-1000000` });
  return undefined;
}

function overlap(a: RouterPod["jobs"], b: RouterPod["jobs"]): boolean {
  return a !== undefined && b !== undefined && a[0] <= b[1] && b[0] <= a[1];
}

function readNumber(mapping: YamlMapping, key: string, report: Report, min: number, max: number): number | undefined {
  const node = valueOf(mapping, key);
  if (node === undefined) return undefined;
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  report.error(node, { code: "invalid-value", message: `"${key}" is a whole number from ${min} to ${max}` });
  return undefined;
}

function readFlag(mapping: YamlMapping, key: string, report: Report): boolean | undefined {
  const node = valueOf(mapping, key);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  report.error(node, { code: "wrong-type", message: `"${key}" is true or false, not ${describeNode(node)}` });
  return undefined;
}

function valueOf(mapping: YamlMapping, key: string): YamlNode | undefined {
  return mapping.entries.get(key)?.value;
}

function mappingOf(node: YamlNode | undefined, keys: readonly string[], report: Report): YamlMapping | undefined {
  if (node?.kind !== "mapping") {
    const found = node === undefined ? "The file is empty" : `A mapping is expected, this is ${describeNode(node)}`;
    report.error(node, { code: "wrong-type", message: found });
    return undefined;
  }
  for (const [name, { key }] of node.entries) {
    if (keys.includes(name)) continue;
    const near = nearest(name, keys);
    const hint = near === undefined ? `There are ${keys.join(", ")}.` : `Did you mean ${near}?`;
    report.error(key, { code: "unknown-key", message: `There is no key "${name}"`, hint });
  }
  return node;
}
