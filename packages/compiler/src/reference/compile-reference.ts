import {
  type Diagnostic,
  gitUrlProblem,
  type ImageName,
  imageNameProblem,
  isReferenceProblem,
  parseReference,
  type ReferenceProblem,
  type StepReference,
  versionProblem,
} from "@steps/model";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { refuseExpression } from "../texts/check-name.ts";
import { checkTemplateNode, holdsExpression } from "../texts/check-template.ts";
import {
  asMapping,
  asString,
  asText,
  checkKeys,
  type CompileContext,
  type CompileOptions,
  createContext,
} from "../context.ts";
import { GIT_KEYS, OCI_KEYS, REFERENCE_KEYS, ZIP_KEYS } from "../keys/reference-keys.ts";

export interface CompiledReference {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly reference: StepReference | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a reference: the short form as a string, or `{git: …}`, `{zip: …}`, `{oci: …}`. */
export function compileReference(node: YamlNode, options: CompileOptions = {}): CompiledReference {
  const context = createContext(options);
  const reference = readReference(context, node);
  const { report } = context;
  return { reference: report.hasErrors ? undefined : reference, diagnostics: report.finish() };
}

/** The reference of an invocation in either form; what is wrong is reported. */
export function readReference(context: CompileContext, node: YamlNode): StepReference | undefined {
  if (node.kind === "scalar" && typeof node.value === "string") return readShort(context, node.value, node);
  if (node.kind !== "mapping") {
    context.report.error(node, {
      code: "wrong-type",
      message: `A reference must be a string or a mapping, found ${describeNode(node)}`,
    });
    return undefined;
  }
  checkKeys(context, node, REFERENCE_KEYS);
  const kinds = REFERENCE_KEYS.known.filter((kind) => node.entries.has(kind));
  if (kinds.length !== 1) {
    context.report.error(node, {
      code: kinds.length === 0 ? "missing-key" : "conflicting-keys",
      message: `A reference takes one of git, zip and oci, found ${kinds.length === 0 ? "none" : kinds.join(" and ")}`,
    });
    return undefined;
  }
  const kind = kinds[0] as keyof typeof READERS;
  const expanded = asMapping(context, childOf(node, kind) as YamlNode, kind);
  if (expanded === undefined) return undefined;
  const { keys, read } = READERS[kind];
  checkKeys(context, expanded, keys);
  return read(context, expanded);
}

const READERS = {
  git: { keys: GIT_KEYS, read: readGit },
  zip: { keys: ZIP_KEYS, read: readZip },
  oci: { keys: OCI_KEYS, read: readOci },
} as const;

function readShort(context: CompileContext, text: string, node: YamlNode): StepReference | undefined {
  checkTemplateNode(context, node);
  const parsed = parseReference(text);
  if (!isReferenceProblem(parsed)) return parsed;
  reportProblem(context, node, parsed);
  return undefined;
}

export function reportProblem(context: CompileContext, node: YamlNode, { message, hint }: ReferenceProblem): void {
  context.report.error(node, { code: "invalid-reference", message, hint });
}

/** The place of a step file within a component. */
interface Place {
  readonly dir: string;
  readonly file?: string;
}

interface Parts extends Place {
  readonly url: string;
}

function readGit(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const parts = readParts(context, node);
  const version = requireText(context, node, "rev");
  if (parts === undefined || version === undefined) return undefined;
  const badVersion = versionProblem(version);
  if (badVersion !== undefined) reportProblem(context, childOf(node, "rev") ?? node, badVersion);
  if (holdsExpression(parts.url)) return dynamic(context, node, { parts, prefix: "git+", suffix: `@${version}` });
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(parts.url) ? parts.url : `https://${parts.url}`;
  const badUrl = gitUrlProblem(url);
  if (badUrl !== undefined) reportProblem(context, childOf(node, "url") ?? node, badUrl);
  return { kind: "git", ...parts, url, version };
}

function readZip(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const parts = readParts(context, node);
  const digestNode = childOf(node, "sha256");
  const digest = digestNode === undefined ? undefined : asText(context, digestNode, "sha256")?.toLowerCase();
  if (digestNode !== undefined && digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) {
    reportProblem(context, digestNode, { message: "sha256 must be 64 hex digits" });
  }
  if (parts === undefined) return undefined;
  const suffix = digest === undefined ? "" : `#sha256=${digest}`;
  if (holdsExpression(parts.url)) return dynamic(context, node, { parts, prefix: "", suffix });
  if (/[\u0000-\u001f\u007f]/.test(parts.url)) {
    reportProblem(context, childOf(node, "url") ?? node, { message: "The URL holds a control character" });
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(parts.url)?.[1]?.toLowerCase();
  if (scheme !== undefined && !["http", "https", "file"].includes(scheme)) {
    reportProblem(context, childOf(node, "url") ?? node, {
      message: `The zip reference has an unknown scheme: "${scheme}://"`,
      hint: "Zip files come from https, http, file or a path.",
    });
  }
  return { kind: "zip", ...parts, sha256: digest };
}

function readOci(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const place = readPlace(context, node);
  const [registry, repository] = ["registry", "repository"].map((key) => requireText(context, node, key, true)?.trim());
  const tagNode = childOf(node, "tag");
  // An empty tag is the latest one, but a missing one may have been forgotten.
  const isEmptyTag = tagNode?.kind === "scalar" && tagNode.text.trim() === "";
  const tag = isEmptyTag ? "latest" : requireText(context, node, "tag", true)?.trim();
  if (registry === undefined || repository === undefined || tag === undefined) return undefined;
  if (holdsExpression(registry + repository + tag)) {
    for (const key of ["registry", "repository", "tag"]) checkTemplateNode(context, childOf(node, key) as YamlNode);
    checkDynamicFile(context, node, place.file);
    const inner = innerPath(place);
    return { kind: "dynamic", text: `oci://${registry}/${repository}:${tag}${inner === "" ? "" : ` ${inner}`}` };
  }
  const name = { registry: registry.toLowerCase(), repository, tag };
  reportImageName(context, node, name);
  return { kind: "oci", ...name, ...place };
}

/** Says what is wrong with an image's name where it is: each part is read with the others as they may be. */
function reportImageName(context: CompileContext, node: YamlMapping, { registry, repository, tag }: ImageName): void {
  const good: ImageName = { registry: "host", repository: "a/b", tag: "latest" };
  const parts = {
    registry: { ...good, registry },
    repository: { ...good, registry, repository },
    tag: { ...good, tag },
  };
  for (const [key, name] of Object.entries(parts)) {
    const problem = imageNameProblem(name);
    if (problem === undefined) continue;
    reportProblem(context, childOf(node, key) ?? node, problem);
    if (key === "registry") return;
  }
}

/** The long form of a computed URL is its short form, which is read once the expressions are expanded. */
function dynamic(
  context: CompileContext,
  node: YamlMapping,
  { parts, prefix, suffix }: { parts: Parts; prefix: string; suffix: string },
): StepReference {
  checkTemplateNode(context, childOf(node, "url") as YamlNode);
  checkDynamicFile(context, node, parts.file);
  const inner = innerPath(parts);
  return { kind: "dynamic", text: `${prefix}${parts.url}${inner === "" ? "" : `//${inner}`}${suffix}` };
}

function checkDynamicFile(context: CompileContext, node: YamlMapping, file: string | undefined): void {
  if (file === undefined || /\.ya?ml$/i.test(file)) return;
  const others = node.entries.has("url") ? "in url" : "in the name of the image";
  reportProblem(context, childOf(node, "file") ?? node, {
    message: `With an expression ${others} the file must end in .yml or .yaml: "${file}"`,
  });
}

function innerPath({ dir, file }: Place): string {
  return [dir, file ?? ""].filter((part) => part !== "").join("/");
}

function readParts(context: CompileContext, node: YamlMapping): Parts | undefined {
  const url = requireText(context, node, "url", true);
  const place = readPlace(context, node);
  return url === undefined ? undefined : { url: url.trim(), ...place };
}

function readPlace(context: CompileContext, node: YamlMapping): Place {
  const dirNode = childOf(node, "dir");
  const fileNode = childOf(node, "file");
  const dir = dirNode === undefined ? "" : readLiteral(context, dirNode, "dir");
  const file = fileNode === undefined ? undefined : readLiteral(context, fileNode, "file");
  const problem = pathProblem(dir ?? "", file);
  if (problem !== undefined) reportProblem(context, (problem.isFile ? fileNode : dirNode) ?? node, problem);
  const segments = (dir ?? "").split("/").filter((part) => part !== "" && part !== ".");
  return { dir: segments.join("/"), file };
}

/** Gives the problem of a place within a component, or `undefined` for a valid one. */
export function pathProblem(
  dir: string,
  file: string | undefined,
): (ReferenceProblem & { readonly isFile: boolean }) | undefined {
  if (/[\u0000-\u001f\u007f]/.test(dir)) return { message: "The path holds a control character", isFile: false };
  if (dir.split("/").includes("..")) return { message: `The path leaves the component: "${dir}"`, isFile: false };
  if (file !== undefined && (/[/\u0000-\u001f\u007f]/.test(file) || ["", ".", ".."].includes(file))) {
    return { message: `The file is not a file name: "${file}"`, hint: "Folders go into dir:.", isFile: true };
  }
  return undefined;
}

function readLiteral(context: CompileContext, node: YamlNode, key: string): string | undefined {
  const text = asString(context, node, key);
  if (text !== undefined && node.kind === "scalar") refuseExpression(context, node, `${key} of a reference`);
  return text;
}

function requireText(context: CompileContext, node: YamlMapping, key: string, isTemplate = false): string | undefined {
  const child = childOf(node, key);
  if (child === undefined) {
    context.report.error(node, { code: "missing-key", message: `The reference has no ${key}` });
    return undefined;
  }
  // A revision such as 1.0 is a number to YAML.
  const text = asText(context, child, key);
  if (text !== undefined && !isTemplate && child.kind === "scalar") {
    if (refuseExpression(context, child, `${key} of a reference`)) return undefined;
  }
  if (text?.trim() === "") {
    context.report.error(child, { code: "invalid-reference", message: `The reference has an empty ${key}` });
    return undefined;
  }
  return text;
}
