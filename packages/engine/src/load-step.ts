import { existsSync, mkdirSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ComponentCache, ComponentRequest, ResolvedComponent } from "@steps/cache";
import type { Compiled } from "@steps/compiler";
import type { LoadedStep, LoadFrom, LoadStep } from "@steps/executor";
import { isStepsError } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import type { Source } from "@steps/model/diagnostic";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { Resource } from "@steps/model/event";
import {
  type ActionReference,
  formatReference,
  type LocalReference,
  publicUrl,
  type StepReference,
} from "@steps/model/reference";
import { decodeSource } from "@steps/model/utf8";
import { type ComponentReference, fetchedKindOf, isComponentReference } from "@steps/model/kinds";
import { digestOf } from "@steps/platform";
import { BUILTIN_NAMES, builtinStep, gitlabScriptStep, scriptStep, shellFunctions } from "@steps/builtins";
import { CompileError, EngineError, type LoadDiagnostic } from "./engine-error.ts";
import { registryVariables, requestPlace } from "./component-requests.ts";
import { projectNames } from "./github/project-names.ts";
import type { ActionTools } from "./github/load-action.ts";
import { PrivateCopy } from "./private-copy.ts";
import { compileSource, nameOfFile } from "./step-source.ts";
import { assertInside, findStepFile, isStepNotFound, type StepFile } from "./find-step-file.ts";

export interface LoaderOptions {
  readonly cache: ComponentCache;
  /** The path of a program that does `builtin NAME`: the runner's own. Asked for when a built-in step needs it. */
  readonly program?: () => string;
  /** Job variables: the credentials of registries may be among them. */
  readonly vars?: EnvironmentRecord;
  /** Absolute: where GitHub actions in the workspace are. Default: the current directory. */
  readonly workspace?: string;
  /** Whether `actions/checkout` of the job's own project is the runner's own. Default: yes. */
  readonly hasNativeCheckout?: boolean;
  /** Private copies of fetched components are made below it. */
  readonly tmpDir: string;
  /** When true, nothing of what is loaded will run: components are read where the cache has them, and not copied. Default: false. */
  readonly isReadOnly?: boolean;
  /** When true, unknown keys are warnings instead of errors. Default: false. */
  readonly isLenient?: boolean;
  /** When true, inputs and outputs without a type are errors. Default: false. */
  readonly requiresTypes?: boolean;
  /** When false, scripts go on after a line that fails, as in 2025. Default: true. */
  readonly stopsAtFailure?: boolean;
  /** Whether a git reference without a path mark may mean a path in a repository, if it is none itself. Default: yes. */
  readonly hasLegacyRefs?: boolean;
  /** Replay: what a component must be. Absent for the ordinary run. */
  readonly pin?: (request: ComponentRequest) => Resource;
  readonly onDiagnostics?: (stepPath: string, diagnostics: readonly LoadDiagnostic[]) => void;
  readonly onNote?: (stepPath: string, code: string, message: string) => void;
  readonly onProgress?: (stepPath: string, reference: string, progress: FetchProgress) => void;
}

/** How far a fetch is. */
export interface FetchProgress {
  readonly phase: string;
  readonly bytes?: number;
  readonly totalBytes?: number;
}

/** A reference to a component that is fetched and copied; a local one is used where it is. */
type FetchedReference = Exclude<ComponentReference, LocalReference>;

interface LoadOptions {
  readonly signal: AbortSignal;
  readonly path: string;
}

/** Brings steps here and compiles them, one at a time, as the executor comes to them. One object serves one run. */
export class StepLoader {
  readonly #options: LoaderOptions;
  /** In the order in which they were made. */
  readonly #copies: PrivateCopy[] = [];
  readonly #told = new Set<string>();
  readonly #compiled = new Map<string, Compiled>();
  readonly #scripts = new Map<boolean, SpecDefinition>();

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  /** The `LoadStep` of the executor. @throws {EngineError} @throws {CacheError} */
  readonly load: LoadStep = async (reference, from, options) => {
    if (reference.kind === "local") return this.#loadLocal(reference, from, options);
    if (isComponentReference(reference)) return this.#loadComponent(reference, from, options);
    if (reference.kind === "dist") return this.#loadBuiltin(reference.path, options.inputNames);
    if (reference.kind !== "action") {
      throw new EngineError("REFERENCE_INVALID", `Cannot load a reference of kind "${reference.kind}"`);
    }
    const { loadAction } = await import("./github/load-action.ts");
    return loadAction(reference, from, {
      tools: this.#actionTools(reference, options),
      inputNames: options.inputNames,
      knownInputs: options.knownInputs ?? {},
    });
  };

  #actionTools(reference: ActionReference, options: LoadOptions): ActionTools {
    const { workspace = process.cwd(), program, hasNativeCheckout = true, onDiagnostics } = this.#options;
    return {
      workspace,
      resolve: (request) => this.#resolve(request, reference, options),
      copy: (component) => this.#copy(component),
      copyAt: (root) => this.#copyAt(root),
      digest: (specDefinition) => this.#digest(specDefinition),
      programDir: program === undefined ? undefined : () => dirname(program()),
      hasNativeCheckout,
      project: () => projectNames(this.#options.vars ?? {}, workspace),
      onDiagnostics: (diagnostics) => onDiagnostics?.(options.path, diagnostics),
    };
  }

  async #loadLocal(reference: LocalReference, from: LoadFrom, options: LoadOptions): Promise<LoadedStep> {
    const dir = resolve(from.dir, reference.path);
    const copy = isAbsolute(reference.path) ? undefined : this.#copyAt(from.root);
    if (copy !== undefined) {
      const { root, resource } = copy;
      if (existsSync(dir)) assertInside(root, dir);
      const found = findStepFile(dir, reference.file, root);
      return this.#compile(found, { root, resource, name: formatReference(reference) }, options);
    }
    const found = findStepFile(dir, reference.file, undefined);
    const component = await this.#resolve({ kind: "local", dir: found.dir }, reference, options);
    const name = nameOfFile(found);
    return this.#compile(
      found,
      { root: found.dir, resource: component.resource, name, isLocal: true, component },
      options,
    );
  }

  async #loadComponent(
    reference: FetchedReference,
    from: LoadFrom,
    options: Parameters<LoadStep>[2],
  ): Promise<LoadedStep> {
    const { takesStepEnv } = fetchedKindOf(reference);
    const env = takesStepEnv === true ? { ...registryVariables(this.#options.vars), ...options.env } : undefined;
    const place = requestPlace(from, env);
    const load = (at: FetchedReference) => this.#loadTree(at, fetchedKindOf(at).request(at, place), options);
    try {
      return await load(reference);
    } catch (error) {
      if (this.#options.hasLegacyRefs === false || !isNoRepository(error)) throw error;
      const loaded = await this.#loadOtherwise(reference, load, options.path);
      if (loaded === undefined) throw error;
      return loaded;
    }
  }

  async #loadOtherwise(
    reference: FetchedReference,
    load: (at: FetchedReference) => Promise<LoadedStep>,
    path: string,
  ): Promise<LoadedStep | undefined> {
    for (const reading of fetchedKindOf(reference).otherReadings?.(reference) ?? []) {
      for (const [index, step] of reading.steps.entries()) {
        try {
          const loaded = await load(step);
          const name = formatReference(reference);
          const note = `"${name}" is read as "${reading.path}" in the repository ${publicUrl(reading.repository)}; write ${formatReference(step)}`;
          this.#options.onNote?.(path, "legacy-reference", note);
          return loaded;
        } catch (error) {
          if (isNoRepository(error)) break;
          // The repository is there: what it lacks is said of it.
          if (!isStepNotFound(error) || index === reading.steps.length - 1) throw error;
        }
      }
    }
    return undefined;
  }

  async #loadTree(reference: FetchedReference, request: ComponentRequest, options: LoadOptions): Promise<LoadedStep> {
    const component = await this.#resolve(request, reference, options);
    const copy = this.#copy(component);
    await copy.bring();
    const { root, resource } = copy;
    const found = this.#findInTree(reference, root, options);
    const inner = join(relative(root, found.dir), found.file);
    const name = `${fetchedKindOf(reference).location(reference)} ${inner}`;
    return this.#compile(found, { root, resource, name: name.trim(), component }, options);
  }

  #findInTree(reference: FetchedReference, root: string, options: LoadOptions): StepFile {
    const { dir, file } = reference;
    try {
      return findStepFile(join(root, dir), file, root);
    } catch (error) {
      if (fetchedKindOf(reference).mayLieAtRoot?.(reference) !== true || !isStepNotFound(error)) throw error;
      try {
        const found = findStepFile(root, undefined, root);
        this.#options.onNote?.(
          options.path,
          "step-at-root",
          `"${formatReference(reference)}" has no ${dir}/ folder; using its root`,
        );
        return found;
      } catch (cause) {
        if (isStepNotFound(cause)) throw error;
        throw cause;
      }
    }
  }

  async #loadBuiltin(path: string, inputNames: readonly string[]): Promise<LoadedStep> {
    if (path === "gitlab/script") {
      return { ...this.#loadedBuiltin(gitlabScriptStep, this.#options.tmpDir), functions: shellFunctions };
    }
    if (path !== "script") return this.#loadProgram(path);
    const hasOptions = inputNames.some((name) => name !== "script");
    const specDefinition =
      this.#scripts.get(hasOptions) ??
      scriptStep({ hasOptions, stopsAtFailure: this.#options.stopsAtFailure !== false });
    this.#scripts.set(hasOptions, specDefinition);
    return this.#loadedBuiltin(specDefinition, this.#options.tmpDir);
  }

  #loadProgram(name: string): LoadedStep {
    const specDefinition = builtinStep(name);
    if (specDefinition === undefined) {
      throw new EngineError("STEP_NOT_FOUND", `distributed step "${name}" not found`, {
        hint: `The built-in steps are ${BUILTIN_NAMES.map((known) => `builtin://${known}`).join(", ")}.`,
      });
    }
    const program = this.#options.program?.();
    if (program === undefined) {
      throw new EngineError("STEP_NOT_FOUND", `Cannot run built-in step "${name}": the runner names no program for it`);
    }
    return this.#loadedBuiltin(specDefinition, dirname(program));
  }

  #loadedBuiltin(specDefinition: SpecDefinition, dir: string): LoadedStep {
    return {
      specDefinition,
      definitionDigest: this.#digest(specDefinition),
      dir,
      root: undefined,
      component: undefined,
      fetch: undefined,
      subpath: "",
    };
  }

  async #resolve(
    request: ComponentRequest,
    reference: StepReference,
    options: LoadOptions,
  ): Promise<ResolvedComponent> {
    const name = formatReference(reference);
    const pin = this.#options.pin?.(request);
    const component = await this.#options.cache.resolve(request, {
      signal: options.signal,
      onProgress: (progress) => this.#options.onProgress?.(options.path, name, progress),
      pin,
    });
    // A step that names a component again says nothing new.
    if (component.note !== undefined && !this.#told.has(component.note)) {
      this.#told.add(component.note);
      this.#options.onNote?.(options.path, "cache", component.note);
    }
    return component;
  }

  /** Returns the copy of a component, which need not be there yet. A copy that a step edited is not used again. */
  #copy(component: ResolvedComponent): PrivateCopy {
    let copy = this.#copies.findLast((known) => known.source === component.dir);
    if (copy?.serves(component) !== true) {
      const isUsedInPlace = component.isInPlace === true || this.#options.isReadOnly === true;
      copy = new PrivateCopy(component, isUsedInPlace ? component.dir : this.#newRoot());
      this.#copies.push(copy);
    }
    copy.resource = component.resource;
    return copy;
  }

  #newRoot(): string {
    const parent = join(this.#options.tmpDir, "components");
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return join(parent, String(this.#copies.length + 1));
  }

  #copyAt(root: string | undefined): PrivateCopy | undefined {
    return this.#copies.findLast((copy) => copy.root === root);
  }

  #compile(
    found: StepFile,
    origin: Pick<PrivateCopy, "root" | "resource"> & {
      readonly name: string;
      readonly isLocal?: boolean;
      readonly component?: ResolvedComponent;
    },
    options: LoadOptions,
  ): LoadedStep {
    if (found.shadowed !== undefined) {
      this.#options.onNote?.(
        options.path,
        "shadowed-step-file",
        `"${found.dir}" has both ${found.file} and ${found.shadowed}; ${found.file} is used`,
      );
    }
    const compiled = this.#compileSource(decodeSource(origin.name, found.content));
    this.#options.onDiagnostics?.(options.path, compiled.diagnostics);
    const { specDefinition } = compiled;
    if (specDefinition === undefined) throw new CompileError(origin.name, compiled.diagnostics);
    return {
      specDefinition,
      definitionDigest: this.#digest(specDefinition),
      dir: found.dir,
      root: origin.isLocal === true ? undefined : origin.root,
      component: origin.resource,
      fetch: origin.component?.fetch ?? { isHit: true, bytes: 0, durationMs: 0 },
      subpath: join(relative(origin.root, found.dir), found.file),
      positionOf: compiled.positionOf,
    };
  }

  #compileSource(source: Source): Compiled {
    const key = `${source.name}\0${source.malformed?.byte ?? ""}\0${source.text}`;
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      compiled = compileSource(source, this.#options);
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  readonly #digests = new WeakMap<SpecDefinition, string>();

  #digest(specDefinition: SpecDefinition): string {
    let digest = this.#digests.get(specDefinition);
    if (digest === undefined) {
      digest = digestOf(encodeSpecDefinition(specDefinition));
      this.#digests.set(specDefinition, digest);
    }
    return digest;
  }
}

/** The errors that mean that nothing exists at an address, so that another reading of it may be tried. */
const NOTHING_THERE: ReadonlySet<string> = new Set(["REPOSITORY_NOT_FOUND", "PIN_MISSING", "NOT_LOCKED", "OFFLINE"]);

/** Whether an error says that there is no such repository; the network and credentials are other matters. */
function isNoRepository(error: unknown): boolean {
  return isStepsError(error) && NOTHING_THERE.has(error.code);
}
