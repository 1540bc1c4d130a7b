import { createObject, type RuntimeString } from "../value/value.ts";

/** Variables of one layer. */
export type EnvironmentRecord = Readonly<Record<string, RuntimeString>>;

/**
 * The variables that remain of the base for a step that inherits nothing. Hardly a program runs without them
 * (conformance section 20 C25).
 */
export const MINIMAL_ENV_NAMES: readonly string[] = ["PATH", "HOME", "TMPDIR", "LANG"];

/** The variables that earlier steps exported: the layer that all steps of a job share. */
class Exports {
  readonly values: Record<string, RuntimeString> = createObject();
  generation = 0;
}

/**
 * The environment of a step as sparse layers: each level holds only what was declared at it.
 *
 * Lowest to highest: the base (operating system, then runner), what earlier steps exported (newest wins), then for each
 * enclosing level from the outermost the definition's `env` and the invocation's `env`. So an export is seen at every
 * depth at once and loses to every explicit `env` (conformance sections 5.1 and 20 C14).
 */
export class Environment {
  readonly #base: EnvironmentRecord;
  readonly #exports: Exports;
  readonly #layers: readonly EnvironmentRecord[];
  #flat: EnvironmentRecord | undefined;
  #flatGeneration = -1;

  private constructor(base: EnvironmentRecord, exports: Exports, layers: readonly EnvironmentRecord[]) {
    this.#base = base;
    this.#exports = exports;
    this.#layers = layers;
  }

  /** The environment of a job. Later records win over earlier ones. */
  static create(...base: readonly EnvironmentRecord[]): Environment {
    const merged = Object.assign(createObject<RuntimeString>(), ...base) as EnvironmentRecord;
    return new Environment(merged, new Exports(), []);
  }

  /** The environment below everything that is declared or exported. */
  get base(): EnvironmentRecord {
    return this.#base;
  }

  /** The environment one level further in. */
  with(layer: EnvironmentRecord): Environment {
    if (Object.keys(layer).length === 0) return this;
    return new Environment(this.#base, this.#exports, [...this.#layers, layer]);
  }

  /** The same environment above another base. */
  above(base: EnvironmentRecord): Environment {
    return new Environment(base, this.#exports, this.#layers);
  }

  /** The same environment for a step that runs beside others: what it exports is seen by its own steps only. */
  fork(): Environment {
    const exports = new Exports();
    Object.assign(exports.values, this.#exports.values);
    return new Environment(this.#base, exports, this.#layers);
  }

  /** Sets variables for every step that runs from now on, at any depth. */
  export(variables: EnvironmentRecord): void {
    Object.assign(this.#exports.values, variables);
    this.#exports.generation += 1;
  }

  /** Returns the value that a variable has at every depth, unless a level declares it. */
  shared(name: string): RuntimeString | undefined {
    return this.#exports.values[name] ?? this.#base[name];
  }

  /** Returns what was declared and exported, without the base. The result must not be changed. */
  declared(): EnvironmentRecord {
    return Object.assign(createObject<RuntimeString>(), this.#exports.values, ...this.#layers) as EnvironmentRecord;
  }

  /** All variables as a process would get them; not to be changed. */
  flatten(): EnvironmentRecord {
    const { generation, values } = this.#exports;
    if (this.#flat === undefined || this.#flatGeneration !== generation) {
      this.#flat = Object.assign(
        createObject<RuntimeString>(),
        this.#base,
        values,
        ...this.#layers,
      ) as EnvironmentRecord;
      this.#flatGeneration = generation;
    }
    return this.#flat;
  }
}
