import { createObject, type RuntimeString } from "./value.ts";

/** Variables of one layer. */
export type EnvironmentRecord = Readonly<Record<string, RuntimeString>>;

/** The layers that all steps of a job share, lowest first: operating system, runner, exports of earlier steps. */
class Root {
  readonly base: EnvironmentRecord;
  readonly exports: Record<string, RuntimeString> = createObject();
  generation = 0;

  constructor(base: EnvironmentRecord, exports: EnvironmentRecord = {}) {
    this.base = base;
    Object.assign(this.exports, exports);
  }
}

/**
 * The environment of a step as sparse layers: each level holds only what was declared at it.
 *
 * Lowest to highest: the base (operating system, then runner), what earlier steps exported (newest wins), then for each
 * enclosing level from the outermost the definition's `env` and the invocation's `env`. So an export is seen at every
 * depth at once and loses to every explicit `env` (`steps-language` 5.1, C14).
 */
export class Environment {
  readonly #root: Root;
  readonly #layers: readonly EnvironmentRecord[];
  #flat: EnvironmentRecord | undefined;
  #flatGeneration = -1;

  private constructor(root: Root, layers: readonly EnvironmentRecord[]) {
    this.#root = root;
    this.#layers = layers;
  }

  /** The environment of a job. Later records win over earlier ones. */
  static create(...base: readonly EnvironmentRecord[]): Environment {
    return new Environment(new Root(Object.assign(createObject<RuntimeString>(), ...base) as EnvironmentRecord), []);
  }

  /** The environment one level further in. */
  with(layer: EnvironmentRecord): Environment {
    return Object.keys(layer).length === 0 ? this : new Environment(this.#root, [...this.#layers, layer]);
  }

  /** The same environment for a step that runs beside others: what it exports is seen by its own steps only. */
  fork(): Environment {
    return new Environment(new Root(this.#root.base, this.#root.exports), this.#layers);
  }

  /** Sets variables for every step that runs from now on, at any depth. */
  export(variables: EnvironmentRecord): void {
    Object.assign(this.#root.exports, variables);
    this.#root.generation += 1;
  }

  /** All variables as a process would get them; not to be changed. */
  flatten(): EnvironmentRecord {
    if (this.#flat === undefined || this.#flatGeneration !== this.#root.generation) {
      this.#flat = Object.assign(
        createObject<RuntimeString>(),
        this.#root.base,
        this.#root.exports,
        ...this.#layers,
      ) as EnvironmentRecord;
      this.#flatGeneration = this.#root.generation;
    }
    return this.#flat;
  }
}
