import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Engine } from "@steps/engine";
import type { WorkflowCall, WorkflowReference } from "@steps/github-compiler/pipeline";
import { isStepsError, messageOf } from "@steps/model";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import type { Resource } from "@steps/model/event";
import { publicUrl } from "@steps/model/reference";
import { decodeSource } from "@steps/model/utf8";
import { isInside } from "@steps/platform";

/** The repository that a workflow lies in: `./` of its calls leads into it. */
export interface WorkflowOrigin {
  /** The folder of the repository: absolute. */
  readonly dir: string;
  /** The name of the repository with its version, in front of the paths of its files; empty for the project. */
  readonly name: string;
}

/** A workflow that a job calls. */
export interface CalledWorkflow {
  readonly source: Source;
  readonly origin: WorkflowOrigin;
}

/** Why a workflow cannot be had. */
export interface MissingWorkflow {
  readonly problem: Diagnostic;
}

/** Gets the workflows that jobs call: from the project, or from repositories by way of the component cache. */
export class CalledWorkflows {
  readonly #engine: Engine;
  readonly #known = new Map<string, CalledWorkflow>();
  readonly #resources: Resource[] = [];
  readonly #onRead: (source: Source) => void;

  /** @param onRead hears of each file once */
  constructor(engine: Engine, onRead: (source: Source) => void) {
    this.#engine = engine;
    this.#onRead = onRead;
  }

  /** The workflows that were got, each once. */
  get found(): readonly CalledWorkflow[] {
    return [...this.#known.values()];
  }

  /** The repositories that they came from. */
  get resources(): readonly Resource[] {
    return this.#resources;
  }

  /** Gets the workflow of a call. @param from the repository of the calling workflow */
  async get(call: WorkflowCall, from: WorkflowOrigin, signal: AbortSignal): Promise<CalledWorkflow | MissingWorkflow> {
    const { reference } = call;
    const key = JSON.stringify([reference, reference.kind === "local" ? from.dir : ""]);
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    try {
      const origin = reference.kind === "local" ? from : await this.#fetch(reference, signal);
      const source = readIn(origin, reference.path);
      if (typeof source === "string") return { problem: call.missing(source) };
      const found = { source, origin };
      this.#onRead(source);
      this.#known.set(key, found);
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (!isStepsError(error)) throw error;
      return { problem: call.missing(`Cannot get the workflow: ${messageOf(error)}`, error.hint) };
    }
  }

  async #fetch(
    { url, repository, version }: Extract<WorkflowReference, { readonly kind: "repository" }>,
    signal: AbortSignal,
  ): Promise<WorkflowOrigin> {
    const { dir, resource } = await this.#engine.cache.resolve({ kind: "git", url, version }, { signal });
    this.#resources.push(resource);
    const name = url === `https://github.com/${repository}` ? repository : publicUrl(url);
    return { dir, name: `${name}@${version}` };
  }
}

// Gives a sentence when there is no such file.
function readIn({ dir, name }: WorkflowOrigin, path: string): Source | string {
  const file = join(dir, path);
  const where = name === "" ? "the project" : name;
  if (!existsSync(file)) return `There is no workflow "${path}" in ${where}`;
  if (!isInside(dir, file)) return `The workflow "${path}" leads out of ${where}`;
  return decodeSource(name === "" ? shown(file) : `${name} ${path}`, readFileSync(file));
}

function shown(file: string): string {
  const way = relative(process.cwd(), file);
  return way.startsWith("..") ? file : way;
}
