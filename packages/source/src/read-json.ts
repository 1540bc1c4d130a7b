import type { Source } from "@steps/model/diagnostic";
import { MAX_DEPTH, MAX_TOKENS } from "./limits.ts";
import type { YamlEntry, YamlMapping, YamlNode, YamlScalar } from "./yaml-node.ts";

/** Nothing here is JSON that YAML reads in the same way: the whole text is left to the reader of YAML. */
class NotPlain extends Error {}

/** Longer keys are left to the reader of YAML, which bounds some of them. */
const MAX_KEY_LENGTH = 1000;

const [TAB, LINE_FEED, RETURN, SPACE, QUOTE, BACKSLASH] = [9, 10, 13, 32, 34, 92];
const LITERAL = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORDS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };

/**
 * Reads a text that is one list or object of JSON, ten times as fast as YAML is read. `undefined` for any other text, and for
 * one that has something to report: both are left to the reader of YAML, which gives the same nodes for what is read here.
 */
export function readJson(source: Source): YamlNode | undefined {
  const { text } = source;
  // Most texts are no JSON, and are told by their first letter.
  if (text[0] !== "[" && text[0] !== "{") return undefined;
  try {
    return new JsonReader(source).read();
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

class JsonReader {
  readonly #source: Source;
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #tokens = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#text = source.text;
  }

  read(): YamlNode {
    const node = this.#value();
    this.#skipBlanks();
    if (this.#at !== this.#text.length) throw new NotPlain();
    return node;
  }

  #value(): YamlNode {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#mapping();
      case "[":
        return this.#list();
      case '"':
        return this.#string();
      default:
        return this.#literal();
    }
  }

  #mapping(): YamlMapping {
    const offset = this.#at;
    const entries = new Map<string, YamlEntry>();
    for (let isMore = this.#enter("}"); isMore; isMore = this.#next("}")) {
      if (this.#text[this.#at] !== '"') throw new NotPlain();
      const key = this.#string();
      // A colon in another line, or behind a long key, is not always one to YAML.
      if (this.#text[this.#at] !== ":" || key.length > MAX_KEY_LENGTH || entries.has(key.text)) throw new NotPlain();
      this.#take();
      this.#skipBlanks();
      entries.set(key.text, { key, value: this.#value() });
    }
    this.#leave();
    return { kind: "mapping", entries, source: this.#source, offset, length: this.#at - offset };
  }

  #list(): YamlNode {
    const offset = this.#at;
    const items: YamlNode[] = [];
    for (let isMore = this.#enter("]"); isMore; isMore = this.#next("]")) items.push(this.#value());
    this.#leave();
    return { kind: "list", items, source: this.#source, offset, length: this.#at - offset };
  }

  /** Begins a list or an object, and says whether there is anything in it. */
  #enter(end: string): boolean {
    this.#depth += 1;
    // The reader of YAML counts other things too; near the limit it decides.
    if (this.#depth > MAX_DEPTH / 2) throw new NotPlain();
    this.#take();
    this.#skipBlanks();
    return this.#text[this.#at] !== end;
  }

  /** Passes what stands behind an item, and says whether another one follows. */
  #next(end: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] === end) return false;
    if (this.#text[this.#at] !== ",") throw new NotPlain();
    this.#take();
    this.#skipBlanks();
    if (this.#text[this.#at] === end) throw new NotPlain();
    return true;
  }

  #leave(): void {
    this.#take();
    this.#depth -= 1;
  }

  #string(): YamlScalar {
    const offset = this.#at;
    let hasEscapes = false;
    this.#take();
    for (this.#skipPlain(); this.#text[this.#at] !== '"'; this.#skipPlain()) {
      if (this.#skip(ESCAPE) === 0) throw new NotPlain();
      hasEscapes = true;
    }
    this.#at += 1;
    const length = this.#at - offset;
    const text = hasEscapes
      ? (JSON.parse(this.#text.slice(offset, this.#at)) as string)
      : this.#text.slice(offset + 1, this.#at - 1);
    return { kind: "scalar", value: text, text, style: "double-quoted", source: this.#source, offset, length };
  }

  #literal(): YamlScalar {
    const offset = this.#at;
    const length = this.#skip(LITERAL);
    // The next characters may make it a word of YAML: `1x`.
    if (length === 0 || !" \n,]}".includes(this.#text[this.#at] ?? "x")) throw new NotPlain();
    this.#count();
    const text = this.#text.slice(offset, this.#at);
    const value = Object.hasOwn(WORDS, text) ? (WORDS[text] as null | boolean) : Number(text);
    return { kind: "scalar", value, text, style: "plain", source: this.#source, offset, length };
  }

  // A pattern takes several times as long for these two, which stand between all other parts.
  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LINE_FEED) return;
      this.#at += 1;
    }
  }

  /** Passes what stands for itself in a string. */
  #skipPlain(): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code === LINE_FEED || code === RETURN || code === TAB) break;
    }
    this.#at = at;
  }

  /** Passes what a pattern matches here, and gives its length. */
  #skip(pattern: RegExp): number {
    const start = this.#at;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return 0;
    this.#at = pattern.lastIndex;
    return this.#at - start;
  }

  #take(): void {
    this.#at += 1;
    this.#count();
  }

  // The reader of YAML has at most four tokens for each of ours.
  #count(): void {
    this.#tokens += 1;
    if (this.#tokens > MAX_TOKENS / 4) throw new NotPlain();
  }
}
