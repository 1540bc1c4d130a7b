import { type Automaton, createAutomaton } from "./automaton.ts";
import type { Patterns } from "./mask-stream.ts";
import { dumpedForms, encodedForms, plainForms } from "./secret-forms.ts";
import { SecretIndex } from "./secret-index.ts";

/** Tells who made a secret known. The job's secrets have room of their own, which steps cannot use up. */
export type SecretOrigin = "job" | "step";

// All secrets of a job together. What they are looked for as it is has no other limit.
const MAX_SECRET_BYTES = 128 * 1024 * 1024;
const MAX_SECRETS = 1_000_000;
/**
 * The greatest total size of the patterns in automata, in bytes. Automata are exact to the last byte and need 25 bytes
 * for each.
 */
const MAX_AUTOMATON_BYTES = 1024 * 1024;
/** Above this what tools such as `od` print goes to the index, so that automata keep room for what is seen more often. */
const MAX_BEFORE_DUMPED = 128 * 1024;
const MAX_IN_AUTOMATON = 64 * 1024;
/** The same of those that skip line breaks. */
const MAX_WRAPPED_BYTES = 1024 * 1024;
/** The greatest total size of encodings in bytes, by whoever made the secret known. */
const MAX_ENCODED_BYTES: Readonly<Record<SecretOrigin, number>> = { job: 32 * 1024 * 1024, step: 4 * 1024 * 1024 };
/** The greatest total size in bytes of the forms that tools such as `od` print. */
const MAX_DUMPED_BYTES: Readonly<Record<SecretOrigin, number>> = { job: 4 * 1024 * 1024, step: 1024 * 1024 };

interface Layer {
  readonly automata: readonly Automaton[];
  readonly patterns: readonly Uint8Array[];
  readonly wrapped: readonly Uint8Array[];
  readonly size: number;
}

/** All that is looked for: in automata as long as it is little, else in an index. */
export class PatternSet {
  version = 0;
  /** The length of the shortest pattern, in bytes; infinite when there is none. */
  minLength: number = Number.POSITIVE_INFINITY;
  /** How many secrets have encodings that there was no room for. */
  partlyEncoded = 0;
  #index: SecretIndex | undefined;
  readonly #inAutomata = new Set<string>();
  #pending: { patterns: Uint8Array[]; wrapped: Uint8Array[] } = { patterns: [], wrapped: [] };
  #layers: Layer[] = [];
  #automata: readonly Automaton[] = [];
  #secrets = 0;
  #secretBytes = 0;
  #automatonBytes = 0;
  #wrappedBytes = 0;
  readonly #encodedBytes = { job: 0, step: 0 };
  readonly #dumpedBytes = { job: 0, step: 0 };

  get isEmpty(): boolean {
    return this.version === 0;
  }

  /** Adds a secret of at least 5 bytes. @throws {RangeError} when there is no room for it or for one of its lines */
  add(secret: string, origin: SecretOrigin): void {
    this.#secrets += 1;
    this.#secretBytes += Buffer.byteLength(secret);
    if (this.#secrets > MAX_SECRETS) throw new RangeError(`there are more than ${MAX_SECRETS}`);
    if (this.#secretBytes > MAX_SECRET_BYTES) throw new RangeError(`they have more than ${MAX_SECRET_BYTES} bytes`);
    for (const form of plainForms(secret)) this.#place(form);
    if (!this.#addEncodings(secret, origin)) this.partlyEncoded += 1;
  }

  /** Adds a text as it is, if there is room for encodings. */
  addForm(form: string): void {
    const bytes = Buffer.from(form);
    this.#encodedBytes.step += bytes.length;
    if (this.#encodedBytes.step <= MAX_ENCODED_BYTES.step) this.#place(bytes);
  }

  #addEncodings(secret: string, origin: SecretOrigin): boolean {
    const encoded = this.#encodedBytes;
    if (encoded[origin] >= MAX_ENCODED_BYTES[origin]) return false;
    let hasWrapped = true;
    for (const { text, isWrapped } of encodedForms(secret)) {
      const bytes = Buffer.from(text);
      const isNew = this.#place(bytes);
      if (isNew) encoded[origin] += bytes.length;
      if (isNew && isWrapped && !this.#wrap(bytes)) hasWrapped = false;
      if (encoded[origin] >= MAX_ENCODED_BYTES[origin]) return false;
    }
    const dumped = this.#dumpedBytes;
    if (dumped[origin] >= MAX_DUMPED_BYTES[origin]) return false;
    for (const bytes of dumpedForms(secret)) {
      if (dumped[origin] >= MAX_DUMPED_BYTES[origin]) return false;
      const isNew = this.#automatonBytes < MAX_BEFORE_DUMPED ? this.#place(bytes) : this.#intoIndex(bytes);
      if (isNew) dumped[origin] += bytes.length;
    }
    return hasWrapped;
  }

  /** Says whether it was not looked for before. */
  #place(form: Uint8Array): boolean {
    const fits = form.length <= MAX_IN_AUTOMATON && this.#automatonBytes + form.length <= MAX_AUTOMATON_BYTES;
    if (!fits) return this.#intoIndex(form);
    const key = Buffer.from(form).toString("latin1");
    if (this.#inAutomata.has(key)) return false;
    this.#inAutomata.add(key);
    this.#automatonBytes += form.length;
    this.#pending.patterns.push(form);
    this.#changed(form);
    return true;
  }

  #wrap(form: Uint8Array): boolean {
    if (this.#wrappedBytes + form.length > MAX_WRAPPED_BYTES) return false;
    this.#wrappedBytes += form.length;
    this.#pending.wrapped.push(form);
    return true;
  }

  #intoIndex(form: Uint8Array): boolean {
    this.#index ??= new SecretIndex();
    if (!this.#index.add(form)) return false;
    this.#changed(form);
    return true;
  }

  #changed({ length }: Uint8Array): void {
    this.minLength = Math.min(this.minLength, length);
    this.version += 1;
  }

  /**
   * Returns the patterns to look for now. Layers double in size, so that a job that learns a secret at each step does
   * not rebuild everything each time.
   */
  patterns(): Patterns {
    if (this.#pending.patterns.length > 0 || this.#pending.wrapped.length > 0) this.#build();
    return { automata: this.#automata, index: this.#index };
  }

  #build(): void {
    const layers = [...this.#layers];
    let last = createLayer(this.#pending.patterns, this.#pending.wrapped);
    this.#pending = { patterns: [], wrapped: [] };
    for (let before = layers.at(-1); before !== undefined && before.size <= 2 * last.size; before = layers.at(-1)) {
      layers.pop();
      last = createLayer([...before.patterns, ...last.patterns], [...before.wrapped, ...last.wrapped]);
    }
    this.#layers = [...layers, last];
    this.#automata = this.#layers.flatMap((layer) => layer.automata);
  }
}

function createLayer(patterns: readonly Uint8Array[], wrapped: readonly Uint8Array[]): Layer {
  const automata: Automaton[] = [];
  if (patterns.length > 0) automata.push(createAutomaton(patterns));
  if (wrapped.length > 0) automata.push(createAutomaton(wrapped, { skipsBreaks: true }));
  let size = 0;
  for (const automaton of automata) size += automaton.stateCount;
  return { automata, patterns, wrapped, size };
}
