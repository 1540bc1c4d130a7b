import { type Automaton, createAutomaton } from "./automaton.ts";
import { createMaskStream, maskBytes, type MaskStream } from "./mask-stream.ts";
import { isUnmaskable, secretForms } from "./secret-forms.ts";
import { hasToken } from "./token-shape.ts";

/** Takes secrets out of text and bytes. One for each job: secrets are added as they become known. */
export interface Masker {
  /**
   * Masks this text, its parts and its usual encodings from now on. Texts of 4 bytes and less and a few common words are
   * refused, since masking them would ruin what is shown; `unmaskable` counts them.
   */
  add(secret: string): void;
  /** Masks this text as it is, and nothing that is derived of it: a form of a secret that was added. */
  addForm(form: string): void;
  /** Nothing was added. */
  readonly isEmpty: boolean;
  /** How many different texts were refused. */
  readonly unmaskable: number;
  /** Grows when what is masked changes: what was masked at the same version need not be masked again. */
  readonly version: number;
  text(text: string): string;
  /** The input itself when nothing was found. */
  bytes(chunk: Uint8Array): Uint8Array;
  /** One for each stream of bytes: a secret is found wherever the chunks are cut. */
  stream(): MaskStream;
}

/** What stands where a secret was. */
export const MASK = "[MASKED]";

// All patterns together; a job that makes more secrets than this has them refused.
const MAX_PATTERN_BYTES = 4 * 1024 * 1024;
const MAX_SECRET_BYTES = 1024 * 1024;

interface Layer {
  readonly automata: readonly Automaton[];
  readonly patterns: readonly Uint8Array[];
  readonly wrapped: readonly Uint8Array[];
  readonly size: number;
}

/** What is masked besides the secrets that are added. */
export interface MaskOptions {
  /**
   * Also what has the shape of one of GitLab's tokens: a prefix such as `glpat-`, which stays, and the letters, digits and `-._=`
   * after it. Default: no.
   */
  readonly masksTokens?: boolean;
}

/** A masker that knows no secret yet. */
export function createMasker(options: MaskOptions = {}): Masker {
  const findsTokens = options.masksTokens === true;
  const known = new Set<string>();
  const refused = new Set<string>();
  const forms = new Set<string>();
  let pending: { patterns: Uint8Array[]; wrapped: Uint8Array[] } = { patterns: [], wrapped: [] };
  let layers: Layer[] = [];
  let automata: readonly Automaton[] = [];
  let patternBytes = 0;
  let minLength = Number.POSITIVE_INFINITY;
  let version = 0;

  const queue = (texts: readonly string[], into: Uint8Array[]): void => {
    for (const text of texts) {
      const bytes = Buffer.from(text);
      if (patternBytes + bytes.length > MAX_PATTERN_BYTES) continue;
      patternBytes += bytes.length;
      minLength = Math.min(minLength, bytes.length);
      into.push(bytes);
    }
  };

  // Layers double in size, so that a job that learns a secret at each step does not build all anew each time.
  const current = (): readonly Automaton[] => {
    if (pending.patterns.length === 0) return automata;
    layers.push(createLayer(pending.patterns, pending.wrapped));
    pending = { patterns: [], wrapped: [] };
    for (let last = layers.pop(), before = layers.pop(); last !== undefined; before = layers.pop()) {
      if (before === undefined || before.size > 2 * last.size) {
        layers = [...layers, ...(before === undefined ? [] : [before]), last];
        break;
      }
      last = createLayer([...before.patterns, ...last.patterns], [...before.wrapped, ...last.wrapped]);
    }
    automata = layers.flatMap((layer) => layer.automata);
    return automata;
  };

  return {
    add(secret) {
      if (secret === "" || known.has(secret) || refused.has(secret)) return;
      const fits = secret.length <= MAX_SECRET_BYTES && patternBytes + 4 * secret.length <= MAX_PATTERN_BYTES;
      if (isUnmaskable(secret) || !fits) {
        refused.add(secret);
        return;
      }
      known.add(secret);
      const { patterns, wrapped } = secretForms(secret);
      const added = patterns.filter((form) => !forms.has(form));
      for (const form of added) forms.add(form);
      queue(added, pending.patterns);
      queue(
        wrapped.filter((form) => added.includes(form)),
        pending.wrapped,
      );
      if (added.length > 0) version += 1;
    },
    addForm(form) {
      if (forms.has(form) || isUnmaskable(form) || form.length > MAX_SECRET_BYTES) return;
      forms.add(form);
      queue([form], pending.patterns);
      version += 1;
    },
    get isEmpty() {
      return forms.size === 0;
    },
    get unmaskable() {
      return refused.size;
    },
    get version() {
      return version;
    },
    text(text) {
      if (findsTokens && hasToken(text)) return Buffer.from(maskBytes(Buffer.from(text), current(), true)).toString();
      if (forms.size === 0 || text.length * 3 < minLength) return text;
      return maskText(text, current());
    },
    bytes(chunk) {
      return forms.size === 0 && !findsTokens ? chunk : maskBytes(chunk, current(), findsTokens);
    },
    stream() {
      return createMaskStream({ automata: current, version: () => version, findsTokens });
    },
  };
}

function createLayer(patterns: readonly Uint8Array[], wrapped: readonly Uint8Array[]): Layer {
  const automata = [createAutomaton(patterns)];
  if (wrapped.length > 0) automata.push(createAutomaton(wrapped, { skipsBreaks: true }));
  let size = 0;
  for (const automaton of automata) size += automaton.stateCount;
  return { automata, patterns, wrapped, size };
}

function maskText(text: string, automata: readonly Automaton[]): string {
  let isFound = false;
  const onHit = (): void => {
    isFound = true;
  };
  for (const automaton of automata) {
    if (automaton.scanText(text, onHit) === -1) {
      const bytes = Buffer.from(text);
      const masked = maskBytes(bytes, automata);
      return masked === bytes ? text : Buffer.from(masked).toString();
    }
    if (isFound) return Buffer.from(maskBytes(Buffer.from(text), automata)).toString();
  }
  return text;
}
