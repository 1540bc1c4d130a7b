import type { Step_ReferenceJson } from "../gen/step-json.ts";
import type { ReferenceProblem } from "./reference-problem.ts";
import type { Resource } from "./resource.ts";

/** The text of a short form, without blanks at its ends. */
export interface ShortForm {
  readonly text: string;
  /** The scheme before `://`, in lower case; `undefined` where the text has none. */
  readonly scheme: string | undefined;
}

/** The folder and the file that a baseline reference names. */
interface BaselinePlace {
  /** With `/` between its parts; empty for the root. */
  readonly dir: string;
  readonly file: string | undefined;
}

/** All that is known, without I/O, of one kind of reference. Each kind is one record in `KINDS`. */
export interface ReferenceKind<Reference> {
  /** The number of the protocol in `Step.Reference.Protocol` of `proto/steps/v1/step.proto`. */
  readonly protocol: number;
  /** Beginnings of short forms, in lower case, that mean this kind whatever follows. */
  readonly prefixes?: readonly string[];
  /** Tells whether a short form without such a beginning is of this kind; the kinds are asked in the order of `KINDS`. */
  claims?(short: ShortForm): boolean;
  /** Reads a short form; absent for a kind that has none. */
  parse?(short: ShortForm): Reference | ReferenceProblem;
  /** The short form, without credentials. `isRead` tells whether a text is read back to the given reference. */
  format(reference: Reference, isRead: (text: string, reference: Reference) => boolean): string;
  /** The fields of the baseline message besides `protocol`, without credentials. */
  encode(reference: Reference): Omit<Step_ReferenceJson, "protocol">;
  /** The way back from `encode()`. */
  decode(json: Step_ReferenceJson, place: BaselinePlace): Reference | ReferenceProblem;
  /** The problem with a reference that was decoded, or `undefined`. */
  problem(reference: Reference): ReferenceProblem | undefined;
  /**
   * A short name of the step for people, such as the last part of its folder; `undefined` if there is none. `location`
   * is where its component was found, if that is known.
   */
  title(reference: Reference, location?: string): string | undefined;
  /** The same reference as events carry it, without credentials; absent for a kind that has none in memory. */
  withoutCredentials?(reference: Reference): Reference;
  /** True for a kind that is fetched with credentials from the environment of the step. Default: false. */
  readonly takesStepEnv?: boolean;
}

/** The kind of a reference whose files are fetched as a component. */
export interface FetchedKind<Reference, Request> extends ReferenceKind<Reference> {
  readonly component: ComponentKind<Request>;
  /** The request for the component of a reference. @throws what `place.path()` throws */
  request(reference: Reference, place: RequestPlace): Request;
  /** The location for messages, without the version, the folder and credentials. */
  location(reference: Reference): string;
  /** Other meanings of a reference, the nearest first, to be tried where its repository does not exist. */
  otherReadings?(reference: Reference): readonly OtherReading<Reference>[];
  /** Tells whether the step may lie at the component's root if the folder that the reference names does not exist. */
  mayLieAtRoot?(reference: Reference): boolean;
}

/** Another meaning of a reference. */
export interface OtherReading<Reference> {
  /** The places of the step in one repository, in the order in which they are tried. */
  readonly steps: readonly Reference[];
  /** `host/group/project`. It may hold credentials. */
  readonly repository: string;
  /** The folder that the old form names, below `steps/`. */
  readonly path: string;
}

/** The facts about the place in which a reference stands, as far as the caller knows them. */
export interface RequestPlace {
  /** Returns the absolute path of a file that the reference names by `file:` URL or by a path from the calling step file. */
  readonly path: (written: string) => string;
  /** The environment in which credentials are looked for; absent for a kind without `takesStepEnv`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The name of a component, by which traces, locks and sources of components know it. */
export interface ComponentName {
  /** Without credentials; of a folder or a file its absolute path. */
  readonly uri: string;
  /** The location as it was asked for. It may hold credentials. */
  readonly written: string;
  /** The request: a revision, a tag, or an expected digest; empty if nothing was. */
  readonly version: string;
}

/** All that is known, without I/O, of one kind of component. The fetcher of the kind is in `@steps/cache`. */
export interface ComponentKind<Request> {
  name(request: Request): ComponentName;
  /** Whether the author names a version, which traces and locks keep; a kind without versions is known by its location. */
  readonly isVersioned: boolean;
  /** The version behind its mark, as it follows a location: `@main`, `:latest`. */
  mark(version: string): string;
  /** The versions under which a replay may ask for a recorded component. Default: the requested version alone. */
  recordedVersions?(resource: Resource): readonly string[];
  /** The request for a component of a trace; its version need not be exact, since a pin goes with it. */
  requestOf(resource: Pick<Resource, "uri" | "requestedVersion">): Request;
  /** The request for a file or folder on this machine, `undefined` if it is of another kind. The path is absolute. */
  ofPath?(path: string): Request | undefined;
  /** The same request with its folder moved, for a kind that is named by where it lies. */
  moved?(request: Request, move: (path: string) => string): Request;
  /** Completes the request for a substitute with what it inherits from the original request: a tag, a digest, credentials. */
  standingIn?(request: Request, original: Request, written: string): Request;
  /** How a lock fixes components of this kind; absent for a kind that is on this machine only. */
  readonly lock?: ComponentLock<Request>;
}

/** How a lock fixes a component. */
interface ComponentLock<Request> {
  /** Tells whether a component at this location is fetched over the network. Default: always. */
  covers?(uri: string): boolean;
  /** The content of a component that was resolved, as the lock names it: a full commit, or `sha256:…`. */
  resolved(resource: Resource): string;
  /** The form of such a text. */
  readonly pattern: RegExp;
  /** Whether the content has one tree wherever it is used, which the lock then names besides. */
  readonly hasOneTree: boolean;
  /** The request for exactly this content; a problem if the author asked for another. */
  exactly(request: Request, resolved: string): Request | ReferenceProblem;
}
