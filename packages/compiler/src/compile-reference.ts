import {
  type Diagnostic,
  gitUrlProblem,
  isReferenceProblem,
  parseReference,
  type ReferenceProblem,
  type StepReference,
  versionProblem,
} from "@steps/model";
import { refuseExpression } from "./check-name.ts";
import { checkTemplateNode, holdsExpression } from "./check-template.ts";
import {
  asMapping,
  asString,
  asText,
  checkKeys,
  type CompileContext,
  type CompileOptions,
  createContext,
  type KeyTable,
} from "./context.ts";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "./yaml-node.ts";

export interface CompiledReference {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly reference: StepReference | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a reference: the short form as a string, or `{git: …}`, `{zip: …}`. */
export function compileReference(node: YamlNode, options: CompileOptions = {}): CompiledReference {
  const context = createContext(options);
  const reference = readReference(context, node);
  const { collector } = context;
  return { reference: collector.hasErrors ? undefined : reference, diagnostics: collector.finish() };
}

const KINDS: KeyTable = { what: "a reference", known: ["git", "zip", "oci"] };
const GIT_KEYS: KeyTable = { what: "a git reference", known: ["url", "rev", "dir", "file"] };
const ZIP_KEYS: KeyTable = { what: "a zip reference", known: ["url", "sha256", "dir", "file"] };

/** The reference of an invocation in either form; what is wrong is reported. */
export function readReference(context: CompileContext, node: YamlNode): StepReference | undefined {
  if (node.kind === "scalar" && typeof node.value === "string") return readShort(context, node.value, node);
  if (node.kind !== "mapping") {
    context.collector.report(node, {
      code: "wrong-type",
      message: `A reference must be a string or a mapping, found ${describeNode(node)}`,
    });
    return undefined;
  }
  checkKeys(context, node, KINDS);
  const kinds = KINDS.known.filter((kind) => node.entries.has(kind));
  if (kinds.length !== 1) {
    context.collector.report(node, {
      code: kinds.length === 0 ? "missing-key" : "conflicting-keys",
      message: `A reference takes one of git and zip, found ${kinds.length === 0 ? "neither" : kinds.join(" and ")}`,
    });
    return undefined;
  }
  if (kinds[0] === "oci") {
    context.collector.report(node.entries.get("oci")?.key ?? node, {
      code: "not-supported",
      message: "References to OCI images are not supported yet",
      hint: "Use a git repository, a zip file or a folder.",
    });
    return undefined;
  }
  const isGit = kinds[0] === "git";
  const expanded = asMapping(context, childOf(node, kinds[0] as string) as YamlNode, `${kinds[0]}`);
  if (expanded === undefined) return undefined;
  checkKeys(context, expanded, isGit ? GIT_KEYS : ZIP_KEYS);
  return isGit ? readGit(context, expanded) : readZip(context, expanded);
}

function readShort(context: CompileContext, text: string, node: YamlNode): StepReference | undefined {
  checkTemplateNode(context, node);
  const parsed = parseReference(text);
  if (!isReferenceProblem(parsed)) return parsed;
  reportProblem(context, node, parsed);
  return undefined;
}

export function reportProblem(context: CompileContext, node: YamlNode, { message, hint }: ReferenceProblem): void {
  const isLater = message.startsWith("The reference names an OCI image");
  context.collector.report(node, { code: isLater ? "not-supported" : "invalid-reference", message, hint });
}

interface Parts {
  readonly url: string;
  readonly dir: string;
  readonly file?: string;
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
  return { kind: "zip", ...parts, ...(digest === undefined ? {} : { sha256: digest }) };
}

/** The long form of a computed URL is its short form, which is read once the expressions are expanded. */
function dynamic(
  context: CompileContext,
  node: YamlMapping,
  { parts, prefix, suffix }: { parts: Parts; prefix: string; suffix: string },
): StepReference {
  checkTemplateNode(context, childOf(node, "url") as YamlNode);
  if (parts.file !== undefined && !/\.ya?ml$/i.test(parts.file)) {
    reportProblem(context, childOf(node, "file") ?? node, {
      message: `With an expression in url the file must end in .yml or .yaml: "${parts.file}"`,
    });
  }
  const inner = [parts.dir, parts.file ?? ""].filter((part) => part !== "").join("/");
  return { kind: "dynamic", text: `${prefix}${parts.url}${inner === "" ? "" : `//${inner}`}${suffix}` };
}

function readParts(context: CompileContext, node: YamlMapping): Parts | undefined {
  const url = requireText(context, node, "url", true);
  const dirNode = childOf(node, "dir");
  const fileNode = childOf(node, "file");
  const dir = dirNode === undefined ? "" : readLiteral(context, dirNode, "dir");
  const file = fileNode === undefined ? undefined : readLiteral(context, fileNode, "file");
  const problem = pathProblem(dir ?? "", file);
  if (problem !== undefined) reportProblem(context, (problem.isFile ? fileNode : dirNode) ?? node, problem);
  if (url === undefined) return undefined;
  const segments = (dir ?? "").split("/").filter((part) => part !== "" && part !== ".");
  return { url: url.trim(), dir: segments.join("/"), ...(file === undefined ? {} : { file }) };
}

/** What is wrong with a place inside of a component. */
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
    context.collector.report(node, { code: "missing-key", message: `The reference has no ${key}` });
    return undefined;
  }
  // A revision such as 1.0 is a number to YAML.
  const text = asText(context, child, key);
  if (text !== undefined && !isTemplate && child.kind === "scalar") {
    if (refuseExpression(context, child, `${key} of a reference`)) return undefined;
  }
  if (text?.trim() === "") {
    context.collector.report(child, { code: "invalid-reference", message: `The reference has an empty ${key}` });
    return undefined;
  }
  return text;
}
