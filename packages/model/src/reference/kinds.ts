import type { ActionReference } from "./action-reference.ts";
import { action } from "./action.ts";
import { dist, type DistReference } from "./dist.ts";
import { downloadKind, type FileRequest } from "./download.ts";
import { git, type GitReference, type GitRequest } from "./git.ts";
import type { ComponentKind, FetchedKind, ReferenceKind } from "./kind.ts";
import { local, type LocalReference, type LocalRequest } from "./local.ts";
import { oci, type OciReference, type OciRequest } from "./oci.ts";
import { zip, type ZipReference, type ZipRequest } from "./zip.ts";

/** A reference whose files are fetched as a component. */
export type ComponentReference = ZipReference | LocalReference | OciReference | GitReference;

/** A reference that names files. */
export type NamedReference = DistReference | ComponentReference | ActionReference;

/** Names a component to fetch. */
export type ComponentRequest = ZipRequest | LocalRequest | OciRequest | GitRequest | FileRequest;

/** The word for a kind of component: `git`, `zip`, `oci`, `local`, `file`. */
export type ComponentKindName = ComponentRequest["kind"];

/** The word for a kind of component that the cache keeps and that locks fix. */
export type StoredKindName = Exclude<ComponentKindName, "local">;

/** The request for a component of one kind. */
export type RequestOf<Kind extends ComponentKindName> = Extract<ComponentRequest, { readonly kind: Kind }>;

type Kinds = { readonly [R in Exclude<NamedReference, ComponentReference> as R["kind"]]: ReferenceKind<R> } & {
  readonly [R in ComponentReference as R["kind"]]: FetchedKind<R, RequestOf<R["kind"]>>;
};

/** Every kind of reference. A short form is of the first kind that claims it, and git claims all that is left. */
export const KINDS: Kinds = { dist, zip, local, oci, git, action };

type Components = { readonly [R in ComponentRequest as R["kind"]]: ComponentKind<R> };

/** Every kind of component. A file is included by configurations, and no step refers to it. */
const COMPONENTS: Components = {
  zip: zip.component,
  local: local.component,
  oci: oci.component,
  git: git.component,
  file: downloadKind("file"),
};

/** Tells whether a reference names files, which a definition in place and an expression do not. */
export function isNamed(reference: { readonly kind: string }): reference is NamedReference {
  return Object.hasOwn(KINDS, reference.kind);
}

/** The record of a reference's kind. */
export function kindOf<Reference extends NamedReference>({ kind }: Reference): ReferenceKind<Reference> {
  return KINDS[kind] as never;
}

/** Tells whether the files of a reference are fetched as a component. */
export function isComponentReference(reference: { readonly kind: string }): reference is ComponentReference {
  return isNamed(reference) && "component" in KINDS[reference.kind];
}

/** The record of the kind of a reference whose files are fetched. */
export function fetchedKindOf<Reference extends ComponentReference>({
  kind,
}: Reference): FetchedKind<Reference, RequestOf<Reference["kind"]>> {
  return KINDS[kind] as never;
}

/** The record of a component's kind, by its request. */
export function componentKindOf<Request extends ComponentRequest>({ kind }: Request): ComponentKind<Request> {
  return COMPONENTS[kind] as never;
}

/** The record of the kind of a recorded component; `undefined` for a program and for what is built in. */
export function recordedKindOf({ kind }: { readonly kind: string }): ComponentKind<ComponentRequest> | undefined {
  return Object.hasOwn(COMPONENTS, kind) ? COMPONENTS[kind as ComponentKindName] : undefined;
}

/** The request for a file or a folder on this machine, by its absolute path. */
export function ofPath(path: string): ComponentRequest | undefined {
  for (const kind of Object.values(KINDS)) {
    const request = "component" in kind ? kind.component.ofPath?.(path) : undefined;
    if (request !== undefined) return request;
  }
  return undefined;
}

/** Tells whether a word names a kind of component that the cache keeps and that locks fix. */
export function isStoredKind(word: unknown): word is StoredKindName {
  return typeof word === "string" && recordedKindOf({ kind: word })?.lock !== undefined;
}

/** The word for a number of `Step.Reference.Protocol`, as in protobuf's JSON form; `undefined` for an unknown number. */
export function protocolOf(number: number): string | undefined {
  const known = Object.entries(KINDS).find(([, { protocol }]) => protocol === number);
  return known?.[0] ?? OTHER_PROTOCOLS[number];
}

/** The protocols that name no files. */
const OTHER_PROTOCOLS: Readonly<Record<number, string>> = { 6: "dynamic", 7: "spec_def" };
