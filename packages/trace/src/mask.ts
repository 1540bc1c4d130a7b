import { checkOptionNames, type OptionNames, messageOf } from "@steps/model";
import type { Automaton } from "./automaton.ts";
import { TraceError } from "./error.ts";
import { createMaskStream, maskBytes, type MaskStream, type Patterns } from "./mask-stream.ts";
import { PatternSet, type SecretOrigin } from "./pattern-set.ts";
import { isUnmaskable } from "./secret-forms.ts";
import { createTokenShapes, type TokenShapes } from "./token-shape.ts";

export type { SecretOrigin } from "./pattern-set.ts";

/** Takes secrets out of text and bytes. One for each job: secrets are added as they become known. */
export interface Masker {
  /**
   * Masks this text, its parts and its usual encodings from now on. Texts of 4 bytes and less and a few common words are
   * refused, since masking them would ruin what is shown; `unmaskable` counts them.
   *
   * @throws {TraceError} SECRETS_TOO_LARGE when there is no room for it; from then on nothing is shown at all
   */
  add(secret: string, origin?: SecretOrigin): void;
  /** Masks this text as it is, and nothing that is derived of it: a form of a secret that was added. Where room is short it is not. */
  addForm(form: string): void;
  /** True when no secret was added. */
  readonly isEmpty: boolean;
  /** How many different texts were refused. */
  readonly unmaskable: number;
  /** How many secrets are masked as they are, while not all of their encodings are. */
  readonly partlyEncoded: number;
  /** Grows when what is masked changes: what was masked at the same version need not be masked again. */
  readonly version: number;
  text(text: string): string;
  /** The input itself when nothing was found. */
  bytes(chunk: Uint8Array): Uint8Array;
  /** Makes a masker for one stream of bytes. It finds a secret wherever the chunks are cut. */
  stream(): MaskStream;
}

/** The text that replaces a secret. */
export const MASK = "[MASKED]";

const MAX_COUNTED = 10_000;

/** Options for masking texts other than the secrets that are added. */
export interface MaskOptions {
  /**
   * When true, texts in the shape of GitLab's tokens are masked too: the prefix, such as `glpat-`, stays, and the letters,
   * digits and `-._=` after it go. Default: false.
   */
  readonly masksTokens?: boolean;
  /**
   * Further prefixes of tokens that are masked with GitLab's own; without `masksTokens` they mean nothing. The caller sees to it that
   * they are few and short. Default: none.
   */
  readonly tokenPrefixes?: readonly string[];
}

const OPTION_NAMES: OptionNames<MaskOptions> = { masksTokens: true, tokenPrefixes: true };

/** A masker that knows no secret yet. */
export function createMasker(options: MaskOptions = {}): Masker {
  checkOptionNames("createMasker()", options, OPTION_NAMES);
  const tokens = options.masksTokens === true ? createTokenShapes(options.tokenPrefixes) : undefined;
  const known = new Set<string>();
  const refused = new Set<string>();
  const set = new PatternSet();
  /** There was no room for a secret, so from now on no text can be shown: any might hold it. */
  let isClosed = false;

  const add = (secret: string, origin: SecretOrigin): void => {
    if (secret === "" || known.has(secret) || refused.has(secret)) return;
    if (isUnmaskable(secret)) {
      if (refused.size < MAX_COUNTED) refused.add(secret);
      return;
    }
    known.add(secret);
    try {
      set.add(secret, origin);
    } catch (cause) {
      isClosed = true;
      throw new TraceError("SECRETS_TOO_LARGE", `Cannot mask the job's secrets: ${messageOf(cause)}`, {
        hint: "Give the job fewer secrets, or smaller ones; hand large ones over as files.",
      });
    }
  };

  return {
    add: (secret, origin = "job") => add(secret, origin),
    addForm(form) {
      if (!isUnmaskable(form)) set.addForm(form);
    },
    get isEmpty() {
      return set.isEmpty && !isClosed;
    },
    get unmaskable() {
      return refused.size;
    },
    get partlyEncoded() {
      return set.partlyEncoded;
    },
    get version() {
      return isClosed ? Number.MAX_SAFE_INTEGER : set.version;
    },
    text(text) {
      if (isClosed) return text === "" ? "" : MASK;
      const isShort = set.isEmpty || text.length * 3 < set.minLength;
      return isShort && tokens?.mayHold(text) !== true ? text : maskText(text, set.patterns(), tokens);
    },
    bytes(chunk) {
      if (isClosed) return chunk.length === 0 ? chunk : Buffer.from(MASK);
      return set.isEmpty && tokens === undefined ? chunk : maskBytes(chunk, set.patterns(), tokens);
    },
    stream() {
      const stream = createMaskStream({ patterns: () => set.patterns(), version: () => set.version, tokens });
      return {
        push: (chunk) => (isClosed ? new Uint8Array(0) : stream.push(chunk)),
        end: () => (isClosed ? new Uint8Array(0) : stream.end()),
      };
    },
  };
}

function maskText(text: string, patterns: Patterns, tokens: TokenShapes | undefined): string {
  const isSure = patterns.index === undefined && tokens?.mayHold(text) !== true;
  if (isSure && !mayHold(text, patterns.automata)) return text;
  const bytes = Buffer.from(text);
  const masked = maskBytes(bytes, patterns, tokens);
  return masked === bytes ? text : Buffer.from(masked).toString();
}

/** Whether one of the patterns may be in a text: known for sure as long as that is ASCII. */
function mayHold(text: string, automata: readonly Automaton[]): boolean {
  let isFound = false;
  const onHit = (): void => {
    isFound = true;
  };
  return automata.some((automaton) => automaton.scanText(text, onHit) === -1 || isFound);
}
