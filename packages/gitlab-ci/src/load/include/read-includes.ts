import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import type { FileContext, FileRequest } from "../load-file.ts";
import type { CiReport } from "../../ci-rules.ts";
import { isList, isMapping, isNull, stringOf } from "../nodes.ts";
import { hasWildcard } from "./wildcard.ts";

/** One include, before its rules are asked. */
export interface Include {
  /** The files that it asks for; a local path may have wildcards. Several for a list of files of a project. */
  readonly requests: readonly PlacedRequest[];
  readonly inputs: YamlNode | undefined;
  readonly rules: YamlNode | undefined;
}

/** A request with the node that it was made of. */
export interface PlacedRequest {
  readonly request: FileRequest;
  readonly node: YamlNode;
}

/** The surroundings of an include. */
export interface IncludeScope {
  /** Absent for a file of no project. */
  readonly context: FileContext | undefined;
  /** Replaces variables in a location. */
  readonly expand: (text: string) => string;
  /** The kinds that may be included here. */
  readonly kinds: readonly IncludeKind[];
  readonly report: CiReport;
}

/** The kinds of includes, which are the keys that name a file. */
export type IncludeKind = FileRequest["kind"];

/** The kinds of includes that any file may have. */
export const INCLUDE_KINDS: readonly IncludeKind[] = ["local", "project", "remote", "template", "component"];

/** Those of `trigger:include`. */
export const TRIGGER_KINDS: readonly IncludeKind[] = [...INCLUDE_KINDS, "artifact"];

const OWN_KEYS: Readonly<Record<IncludeKind, readonly string[]>> = {
  local: [],
  project: ["file", "ref"],
  remote: ["integrity", "cache"],
  template: [],
  component: [],
  artifact: ["job"],
};

/** Reads the value of `include`: a text, a mapping, or a list of them. What is wrong is reported and left out. */
export function readIncludes(node: YamlNode | undefined, scope: IncludeScope): readonly Include[] {
  if (node === undefined || isNull(node)) return [];
  return (isList(node) ? node.items : [node]).flatMap((item) => readInclude(item, scope) ?? []);
}

function readInclude(node: YamlNode, scope: IncludeScope): Include | undefined {
  const text = stringOf(node);
  if (text !== undefined) {
    const location = scope.expand(text);
    const kind = /^https?:\/\//i.test(location) ? "remote" : "local";
    const request = locate(kind, { location, node }, scope);
    return request === undefined ? undefined : { requests: [{ request, node }], inputs: undefined, rules: undefined };
  }
  if (!isMapping(node)) return invalid(node, "An include is neither a text nor a mapping", scope);
  const kind = kindOf(node, scope);
  if (kind === undefined) return undefined;
  checkKeys(node, kind, scope);
  const requests = requestsOf(kind, node, scope);
  const { entries } = node;
  if (requests.length === 0) return undefined;
  return { requests, inputs: entries.get("inputs")?.value, rules: presentValue(entries.get("rules")) };
}

function presentValue(entry: YamlEntry | undefined): YamlNode | undefined {
  return entry === undefined || isNull(entry.value) ? undefined : entry.value;
}

function kindOf(node: YamlMapping, scope: IncludeScope): IncludeKind | undefined {
  const { kinds } = scope;
  const [kind, other] = kinds.filter((one) => node.entries.has(one));
  if (kind === undefined) {
    const written = [...node.entries.keys()].find((name) => nearest(name, kinds) !== undefined);
    const guess = written === undefined ? undefined : nearest(written, kinds);
    const hint = guess === undefined ? undefined : `Did you mean "${guess}"?`;
    return invalid(node, `An include has one of ${kinds.join(", ")}`, scope, hint);
  }
  if (other === undefined) return kind;
  return invalid(node.entries.get(other)?.key ?? node, `An include has only one of "${kind}" and "${other}"`, scope);
}

function checkKeys(node: YamlMapping, kind: IncludeKind, { report }: IncludeScope): void {
  const known = [kind, ...OWN_KEYS[kind], "inputs", "rules"];
  for (const [name, { key }] of node.entries) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    report.error(key, {
      code: "unknown-key",
      message: `The include has an unknown key: ${quote(name)}`,
      hint: guess === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${guess}"?`,
    });
  }
}

function requestsOf(kind: IncludeKind, node: YamlMapping, scope: IncludeScope): readonly PlacedRequest[] {
  const value = node.entries.get(kind)?.value as YamlNode;
  const location = textOf(kind, value, scope);
  if (location === undefined) return [];
  if (kind === "project") return requestsOfProject(location, node, scope);
  if (kind === "artifact") return requestsOfArtifact(location, node, scope);
  const request = locate(kind, { location, node: value }, scope);
  if (request?.kind !== "remote") return request === undefined ? [] : [{ request, node: value }];
  const integrity = readIntegrity(node.entries.get("integrity")?.value, scope);
  return [{ request: { ...request, integrity }, node: value }];
}

const INTEGRITY = /^sha256-[A-Za-z0-9+/]{43}=$/;

function readIntegrity(node: YamlNode | undefined, scope: IncludeScope): string | undefined {
  if (node === undefined || isNull(node)) return undefined;
  const text = stringOf(node);
  if (text !== undefined && INTEGRITY.test(text)) return text;
  return invalid(node, `"integrity" is not "sha256-" and the digest in Base64`, scope);
}

function requestsOfProject(project: string, node: YamlMapping, scope: IncludeScope): readonly PlacedRequest[] {
  const file = node.entries.get("file")?.value;
  if (file === undefined || isNull(file)) {
    invalid(node, `An include of a project has "file"`, scope);
    return [];
  }
  const refNode = presentValue(node.entries.get("ref"));
  const ref = refNode === undefined ? undefined : textOf("ref", refNode, scope);
  return (isList(file) ? file.items : [file]).flatMap((item) => {
    const location = textOf("file", item, scope);
    const path = location === undefined ? undefined : pathOf(location, item, scope);
    return path === undefined ? [] : [{ request: { kind: "project" as const, project, path, ref }, node: item }];
  });
}

function requestsOfArtifact(location: string, node: YamlMapping, scope: IncludeScope): readonly PlacedRequest[] {
  const jobNode = presentValue(node.entries.get("job"));
  if (jobNode === undefined) {
    invalid(node, `An include of an artifact has "job"`, scope, "Name the job that makes the file.");
    return [];
  }
  const job = textOf("job", jobNode, scope);
  const path = pathOf(location, node, scope);
  return path === undefined || job === undefined ? [] : [{ request: { kind: "artifact", job, path }, node }];
}

function textOf(key: string, node: YamlNode, scope: IncludeScope): string | undefined {
  const text = stringOf(node);
  if (text === undefined || text === "") return invalid(node, `"${key}" of an include is not a text`, scope);
  return scope.expand(text);
}

function locate(
  kind: Exclude<IncludeKind, "project" | "artifact">,
  { location, node }: { readonly location: string; readonly node: YamlNode },
  scope: IncludeScope,
): FileRequest | undefined {
  if (kind === "component") return { kind, address: location };
  if (kind === "remote") {
    if (/^https?:\/\/[^/]+\/./i.test(location) && isYaml(location.replace(/[?#][^]*$/, ""))) {
      return { kind, url: location, integrity: undefined };
    }
    return invalid(node, `${quote(location)} is not the URL of a YAML file`, scope);
  }
  const path = pathOf(location, node, scope);
  if (path === undefined) return undefined;
  if (kind === "template") return { kind, name: path };
  if (scope.context !== undefined) return { kind, path, context: scope.context };
  return invalid(node, `A file of no project cannot include the local file ${quote(location)}`, scope);
}

function pathOf(location: string, node: YamlNode, scope: IncludeScope): string | undefined {
  const path = location.replace(/^\/+/, "");
  const parts = path.split("/");
  if (!isYaml(path) && !(hasWildcard(path) && path.endsWith("*"))) {
    return invalid(node, `${quote(location)} is not the name of a YAML file: it ends in neither .yml nor .yaml`, scope);
  }
  if (path.includes("\0") || parts.includes("..") || parts.includes(".") || parts.includes("")) {
    const hint = "A path starts at the root of the project.";
    return invalid(node, `${quote(location)} is not a path inside of a project`, scope, hint);
  }
  return path;
}

function isYaml(path: string): boolean {
  return /.\.ya?ml$/i.test(path);
}

function invalid(node: YamlNode, message: string, { report }: IncludeScope, hint?: string): undefined {
  report.error(node, { code: "invalid-include", message, hint });
}
