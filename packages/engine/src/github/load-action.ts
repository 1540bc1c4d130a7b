import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { ComponentRequest, ResolvedComponent } from "@steps/cache";
import type { LoadedStep, LoadFrom } from "@steps/executor";
import {
  compileAction,
  compileDockerfileAction,
  DOCKERFILE_ACTIONS,
  type GithubDiagnostic,
  imageAction,
  MANIFEST_FILES,
} from "@steps/github-compiler";
import { isStepsError, StepsError } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { Resource } from "@steps/model/event";
import {
  ACTION_HOST,
  type ActionReference,
  DEFAULT_FILES,
  formatAction,
  type RepositoryAction,
} from "@steps/model/reference";
import { decodeSource } from "@steps/model/utf8";
import { CompiledTexts } from "../compiled-texts.ts";
import { CompileError, EngineError } from "../engine-error.ts";
import { assertInside, findStepFile } from "../find-step-file.ts";
import { checkoutStep, isNativeCheckout } from "@steps/builtins";

/** The functions of the loader of steps that the loader of actions uses. */
export interface ActionTools {
  /** The absolute path of the folder in which `./dir` is looked for. */
  readonly workspace: string;
  readonly resolve: (request: ComponentRequest) => Promise<ResolvedComponent>;
  /** A private copy of a component: what an action writes into its own folder reaches nobody else. */
  readonly copy: (component: ResolvedComponent) => ActionCopy;
  /** The copy at a root that `copy()` gave, and what it is of. */
  readonly copyAt: (root: string) => (ActionCopy & { readonly resource: Resource }) | undefined;
  readonly digest: (specDefinition: SpecDefinition) => string;
  /** The folder of a program called `step-runner`; absent: what is built in is not there. */
  readonly programDir: (() => string) | undefined;
  /** Whether `actions/checkout` is the runner's own. */
  readonly hasNativeCheckout: boolean;
  /** Returns the variables that name the job's own project: `CI_PROJECT_PATH`, `GITHUB_REPOSITORY`, `CI_SERVER_URL`. */
  readonly project: () => Readonly<Record<string, string | undefined>>;
  readonly onDiagnostics: (diagnostics: readonly GithubDiagnostic[]) => void;
}

/** A copy that is made when it is needed. */
interface ActionCopy {
  /** The path that the copy will have. */
  readonly root: string;
  /** The path of the same tree, to be read before there is a copy. */
  readonly source: string;
  readonly bring: () => Promise<void>;
}

/** The inputs that an item gives, by name. */
interface Given {
  readonly inputNames: readonly string[];
  /** The values that are known before the action's turn. */
  readonly knownInputs: Readonly<Record<string, string>>;
}

/** Fetches and compiles a GitHub action. @throws {EngineError} STEP_NOT_FOUND, REFERENCE_INVALID @throws {CompileError} */
export async function loadAction(
  reference: ActionReference,
  from: LoadFrom,
  { tools, ...given }: Given & { readonly tools: ActionTools },
): Promise<LoadedStep> {
  switch (reference.source) {
    case "image":
      return inPlace(imageAction(reference.image), { tools, dir: tools.workspace });
    case "workspace":
      return loadInPlace(reference, { tools, base: tools.workspace });
    case "self": {
      const { root } = from;
      if (root === undefined) return loadInPlace(reference, { tools, base: repositoryOf(from, tools) });
      const origin = tools.copyAt(root) ?? { root, resource: undefined };
      return compile(join(root, reference.dir), { ...origin, isInPlace: false, name: formatAction(reference), tools });
    }
    case "repository":
      return loadRepository(reference, { tools, ...given });
  }
}

async function loadInPlace(
  reference: ActionReference & { readonly dir: string },
  { tools, base }: { readonly tools: ActionTools; readonly base: string },
): Promise<LoadedStep> {
  const dir = join(base, reference.dir);
  const name = formatAction(reference);
  if (!existsSync(dir)) throw notFound(dir, name, { mayCome: reference.source === "workspace" });
  assertInside(base, dir);
  const { resource, fetch } = await tools.resolve({ kind: "local", dir });
  return compile(dir, { root: dir, isInPlace: true, name, resource, fetch, tools });
}

// The calling file was not fetched, so it belongs to the job's project if it lies in the workspace.
function repositoryOf({ dir }: LoadFrom, { workspace }: ActionTools): string {
  const inner = relative(workspace, dir);
  return inner === ".." || inner.startsWith("../") || isAbsolute(inner) ? dir : workspace;
}

async function loadRepository(
  reference: RepositoryAction,
  { tools, ...given }: Given & { readonly tools: ActionTools },
): Promise<LoadedStep> {
  const { programDir } = tools;
  if (programDir !== undefined && isOwnCheckout(reference, tools, given)) {
    return inPlace(checkoutStep, { tools, dir: programDir() });
  }
  const { dir, repository } = reference;
  const component = await resolve(tools, reference);
  const copy = tools.copy(component);
  const { resource, fetch } = component;
  const name = [repository, dir].filter((part) => part !== "").join("/");
  return compile(join(copy.root, dir), { ...copy, isInPlace: false, name, resource, fetch, tools });
}

async function resolve(tools: ActionTools, reference: RepositoryAction): Promise<ResolvedComponent> {
  const { url, version, repository } = reference;
  try {
    return await tools.resolve({ kind: "git", url, version });
  } catch (error) {
    const isAway = isStepsError(error, "TRANSPORT") || isStepsError(error, "OFFLINE");
    if (!isAway || error.hint !== undefined || url !== `${ACTION_HOST}/${repository}`) throw error;
    throw new StepsError(error.code, error.message, {
      cause: error,
      hint: "Where there is no github.com, --action-source says where actions are: URL for all, or owner/repo=PATH|URL.",
    });
  }
}

// Another repository than the job's own is for the action itself, and so is one that nobody knows yet.
function isOwnCheckout(
  { url, dir }: RepositoryAction,
  tools: ActionTools,
  { inputNames, knownInputs }: Given,
): boolean {
  if (url !== "https://github.com/actions/checkout" || dir !== "" || !tools.hasNativeCheckout) return false;
  const known = new Set(Object.keys(knownInputs).map((name) => name.toLowerCase()));
  const decisive = inputNames.map((name) => name.toLowerCase()).filter((name) => DECISIVE.has(name));
  return decisive.every((name) => known.has(name)) && isNativeCheckout(knownInputs, { env: tools.project() });
}

const DECISIVE: ReadonlySet<string> = new Set(["repository", "github-server-url"]);

function inPlace(
  specDefinition: SpecDefinition,
  { tools, dir }: { readonly tools: ActionTools; readonly dir: string },
): LoadedStep {
  const definitionDigest = tools.digest(specDefinition);
  return {
    specDefinition,
    definitionDigest,
    dir,
    root: undefined,
    component: undefined,
    fetch: undefined,
    subpath: "",
  };
}

interface Origin {
  readonly root: string;
  /** The path at which the files can be read. Default: the root. */
  readonly source?: string;
  readonly bring?: () => Promise<void>;
  /** It is no copy, and what it names may lie anywhere. */
  readonly isInPlace: boolean;
  /** For messages. */
  readonly name: string;
  readonly resource: Resource | undefined;
  readonly fetch?: ResolvedComponent["fetch"];
  readonly tools: ActionTools;
}

const compiledManifests = new CompiledTexts<ReturnType<typeof compileAction>>();

function compile(dir: string, origin: Origin): LoadedStep {
  const { root, source = root, name, resource, tools, isInPlace } = origin;
  const readable = join(source, relative(root, dir));
  const manifest = MANIFEST_FILES.find((file) => existsSync(join(readable, file)));
  const file = manifest ?? DOCKERFILE_ACTIONS.find((candidate) => existsSync(join(readable, candidate)));
  if (file === undefined) throw notFound(readable, name, { isRoot: !isInPlace && readable === source });
  if (!isInPlace) assertInside(source, join(readable, file));
  const loaded = {
    dir,
    root: isInPlace ? undefined : root,
    component: resource,
    fetch: origin.fetch ?? { isHit: true, bytes: 0, durationMs: 0 },
    subpath: join(relative(root, dir), file),
    bring: origin.bring,
  };
  if (manifest === undefined) {
    const specDefinition = compileDockerfileAction(file);
    return { ...loaded, specDefinition, definitionDigest: tools.digest(specDefinition) };
  }
  const { content } = findStepFile(readable, manifest, isInPlace ? undefined : source);
  const text = decodeSource(`${name} ${loaded.subpath}`, content);
  const compiled = compiledManifests.compile(text, "", () => compileAction(text));
  tools.onDiagnostics(compiled.diagnostics);
  const { specDefinition, positionOf } = compiled;
  if (specDefinition === undefined) throw new CompileError(name, compiled.diagnostics);
  return { ...loaded, specDefinition, definitionDigest: tools.digest(specDefinition), positionOf };
}

function notFound(
  dir: string,
  name: string,
  { mayCome = false, isRoot = false }: { readonly mayCome?: boolean; readonly isRoot?: boolean },
): EngineError {
  if (!existsSync(dir)) {
    const hint = mayCome ? "An action in the workspace is there only after a step has brought it." : undefined;
    return new EngineError("STEP_NOT_FOUND", `Cannot find an action in "${name}": there is no such folder`, { hint });
  }
  const wanted = [...MANIFEST_FILES, "Dockerfile"].join(", ");
  const isStep = DEFAULT_FILES.some((file) => existsSync(join(dir, file)));
  return new EngineError("STEP_NOT_FOUND", `Cannot find an action in "${name}": it has no ${wanted}`, {
    hint: isStep
      ? "There is a step in it, which is named with step: rather than action: or uses:."
      : isRoot
        ? "One in a folder is named with it: owner/repo/dir@ref, or URL//dir@ref."
        : undefined,
  });
}
