import { CONTROL, type ReferenceProblem } from "./reference-problem.ts";
import { isNamed, kindOf, KINDS, type NamedReference } from "./kinds.ts";
import type { ReferenceKind, ShortForm } from "./kind.ts";
import { SCHEME } from "./paths.ts";

/** A reference that names the source of a step, outright or once expanded. A definition written in place names none. */
export type WrittenReference = NamedReference | DynamicReference;

/** Becomes another reference once its expressions are expanded. */
interface DynamicReference {
  readonly kind: "dynamic";
  readonly text: string;
}

/** File names looked for in a folder, in this order. */
export const DEFAULT_FILES: readonly string[] = ["func.yml", "func.yaml", "step.yml", "step.yaml"];

/** The length of the longest short form of a reference, in UTF-16 units. */
const MAX_REFERENCE_LENGTH = 64 * 1024;

const ALL: readonly ReferenceKind<NamedReference>[] = Object.values(KINDS);

/**
 * Reads the short form of a reference. In this order: an expression anywhere makes it dynamic; `builtin://` and
 * `dist://`; `oci:`; a zip; a leading `.` or `/` is local; with an `@`, a scheme or a `.git` it is git,
 * `URL[/-/PATH]@REV` with PATH below `steps/`, or `git+URL[//PATH]@REV` with PATH from the root; the rest, and what
 * ends in the digest of an image, is OCI, `[REGISTRY/]REPOSITORY[:TAG|@DIGEST] [PATH]` (conformance section 20 C8).
 *
 * @see docs/reference/references.md
 */
export function parseReference(text: string): WrittenReference | ReferenceProblem {
  const parsed = parseTrimmed(text.trim());
  if (isReferenceProblem(parsed)) return parsed;
  const { url, dir, path } = parsed as { readonly url?: string; readonly dir?: string; readonly path?: string };
  // Nobody would see it, and the text of the reference could not carry it.
  const isBlank = [url, dir, path].some((part) => part !== undefined && /\s$/.test(part));
  return isBlank ? { message: "The reference has a path that ends in a blank" } : parsed;
}

function parseTrimmed(trimmed: string): WrittenReference | ReferenceProblem {
  if (trimmed === "") return { message: "The reference is empty" };
  if (trimmed.length > MAX_REFERENCE_LENGTH) return { message: "The reference is too long" };
  if (trimmed.includes("${{")) return { kind: "dynamic", text: trimmed };
  if (CONTROL.test(trimmed)) return { message: "The reference holds a control character" };
  const scheme = SCHEME.exec(trimmed)?.[1]?.toLowerCase();
  const short: ShortForm = { text: trimmed, scheme };
  const lower = trimmed.toLowerCase();
  const prefixed = ALL.find(({ prefixes }) => prefixes?.some((prefix) => lower.startsWith(prefix)));
  if (prefixed?.parse !== undefined) return prefixed.parse(short);
  if (scheme === undefined && /^[a-zA-Z][a-zA-Z0-9+.-]+:[/\\]/.test(trimmed)) {
    return { message: "The reference has a malformed scheme", hint: "A scheme ends in ://, as in https://." };
  }
  const claiming = ALL.find((kind) => kind.claims?.(short));
  return claiming?.parse?.(short) ?? { message: "The reference is of no known kind" };
}

/** Whether `parseReference()` found a problem. */
export function isReferenceProblem(parsed: { readonly kind: string } | ReferenceProblem): parsed is ReferenceProblem {
  return !("kind" in parsed);
}

/**
 * The text of a reference, without credentials; `parseReference()` reads it back to the same reference.
 *
 * Some references exist in the expanded form only and have no such text: a revision with an `@`, a zip whose URL does
 * not end in `.zip`, empty segments in the path of a git URL, a folder of an image that begins with a blank.
 */
export function formatReference(reference: WrittenReference | { readonly kind: "inline" }): string {
  if (reference.kind === "dynamic") return reference.text;
  return isNamed(reference) ? kindOf(reference).format(reference, isReadAs) : "(inline)";
}

function isReadAs(text: string, reference: NamedReference): boolean {
  const [parsed, wanted] = [parseReference(text), reference] as unknown as Readonly<Record<string, unknown>>[];
  return Object.keys({ ...parsed, ...wanted }).every((key) => parsed?.[key] === wanted?.[key]);
}
