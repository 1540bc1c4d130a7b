import type { Source } from "@steps/model/diagnostic";
import type { SourceCode } from "@steps/source";
import type { CompilerCode } from "../diagnostic-rules.ts";

/** A field of a message as it was written. */
export interface Field {
  readonly name: string;
  readonly key: { readonly offset: number; readonly length: number };
  readonly value: FieldValue;
}

export type FieldValue = (
  | { readonly kind: "message"; readonly fields: readonly Field[] }
  | {
      readonly kind: "scalar";
      readonly value: string | number | boolean;
      readonly style: "plain" | "double-quoted";
    }
) & { readonly offset: number; readonly length: number };

type ProblemCode = CompilerCode | SourceCode;

/** Thrown for a text that is not the text format of protobuf, with the place of the mistake. */
export class PrototextProblem extends Error {
  readonly code: ProblemCode;
  readonly offset: number;
  readonly length: number;

  constructor(code: ProblemCode, message: string, place: { offset: number; length?: number }) {
    super(message);
    this.code = code;
    this.offset = place.offset;
    this.length = place.length ?? 1;
  }
}

const BLANK = /(?:[ \t\r\n\f\v]+|#[^\n]*)*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fF]?(?![A-Za-z0-9_.])/y;
const ESCAPE = /\\(?:([abfnrtv?\\'"])|([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;
const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const ENCODER = new TextEncoder();
// A byte order mark in a string is text.
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const CLOSERS: Readonly<Record<string, string>> = { "{": "}", "<": ">" };

/** Reads protobuf's text form without its schema. @throws {PrototextProblem} from `parse()` */
export class PrototextParser {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;

  constructor(source: Source, maxDepth: number) {
    this.#text = source.text;
    this.#maxDepth = maxDepth;
  }

  parse(): readonly Field[] {
    const fields = this.#fields(undefined, 0);
    if (this.#at < this.#text.length) throw this.#problem("A field is expected");
    return fields;
  }

  #fields(closer: string | undefined, depth: number): readonly Field[] {
    if (depth > this.#maxDepth) {
      const message = `The text is nested deeper than ${this.#maxDepth} levels`;
      throw new PrototextProblem("too-deep", message, { offset: this.#at });
    }
    const fields: Field[] = [];
    for (this.#skip(); this.#at < this.#text.length && this.#text[this.#at] !== closer; this.#skip()) {
      fields.push(...this.#field(depth));
      this.#skip();
      if (this.#text[this.#at] === "," || this.#text[this.#at] === ";") this.#at += 1;
    }
    return fields;
  }

  #field(depth: number): Field[] {
    const offset = this.#at;
    const name = this.#match(NAME);
    if (name === undefined) throw this.#problem("The name of a field is expected");
    const key = { offset, length: name.length };
    this.#skip();
    const hasColon = this.#take(":");
    this.#skip();
    const opener = this.#text[this.#at] ?? "";
    if (opener in CLOSERS) return [{ name, key, value: this.#message(depth) }];
    if (!hasColon) throw this.#problem(`After "${name.slice(0, 80)}" a colon or a message is expected`);
    if (opener !== "[") return [{ name, key, value: this.#scalar() }];
    return this.#list(depth).map((value) => ({ name, key, value }));
  }

  #list(depth: number): FieldValue[] {
    this.#at += 1;
    const values: FieldValue[] = [];
    for (this.#skip(); !this.#take("]"); this.#skip()) {
      if (values.length > 0) {
        if (!this.#take(",")) throw this.#problem('In a list "," or "]" is expected');
        this.#skip();
      }
      values.push((this.#text[this.#at] ?? "") in CLOSERS ? this.#message(depth) : this.#scalar());
    }
    return values;
  }

  #message(depth: number): FieldValue {
    const offset = this.#at;
    const closer = CLOSERS[this.#text[offset] as string] as string;
    this.#at += 1;
    const fields = this.#fields(closer, depth + 1);
    if (!this.#take(closer)) throw new PrototextProblem("prototext-syntax", "The message is not closed", { offset });
    return { kind: "message", fields, offset, length: this.#at - offset };
  }

  #scalar(): FieldValue {
    const offset = this.#at;
    const first = this.#text[offset];
    if (first === '"' || first === "'") {
      const value = this.#strings();
      return { kind: "scalar", value, style: "double-quoted", offset, length: this.#at - offset };
    }
    const number = this.#match(NUMBER);
    const word = number === undefined ? this.#match(NAME) : undefined;
    if (number === undefined && word === undefined) throw this.#problem("A value is expected");
    const value = number === undefined ? word === "true" || (word !== "false" && (word as string)) : toNumber(number);
    return { kind: "scalar", value, style: "plain", offset, length: this.#at - offset };
  }

  // Strings that stand one after the other are one. Escapes name bytes.
  #strings(): string {
    const bytes: Uint8Array[] = [];
    for (let quote = this.#text[this.#at]; quote === '"' || quote === "'"; quote = this.#text[this.#at]) {
      this.#string(quote, bytes);
      const end = this.#at;
      this.#skip();
      const next = this.#text[this.#at];
      if (next === '"' || next === "'") continue;
      this.#at = end;
      break;
    }
    return decodeBytes(bytes);
  }

  #string(quote: string, bytes: Uint8Array[]): void {
    const start = this.#at++;
    let from = this.#at;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char === "\n") {
        throw new PrototextProblem("prototext-syntax", "The string is not closed", { offset: start });
      }
      if (char !== quote && char !== "\\") {
        this.#at += 1;
        continue;
      }
      if (this.#at > from) bytes.push(ENCODER.encode(this.#text.slice(from, this.#at)));
      if (char === quote) break;
      bytes.push(this.#escape());
      from = this.#at;
    }
    this.#at += 1;
  }

  #escape(): Uint8Array {
    ESCAPE.lastIndex = this.#at;
    const match = ESCAPE.exec(this.#text);
    const [whole = "", simple, octal, hex, short, long] = match ?? [];
    const code = Number.parseInt(short ?? long ?? "", 16);
    const byte = octal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(octal, 8);
    if (match === null || code > 0x10ffff || byte > 0xff) throw this.#problem("The escape is none that protobuf knows");
    this.#at += whole.length;
    if (simple !== undefined) return ENCODER.encode(SIMPLE[simple] ?? simple);
    return Number.isNaN(code) ? Uint8Array.of(byte) : ENCODER.encode(String.fromCodePoint(code));
  }

  #skip(): void {
    BLANK.lastIndex = this.#at;
    BLANK.exec(this.#text);
    this.#at = BLANK.lastIndex;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0];
    this.#at += text?.length ?? 0;
    return text;
  }

  #problem(message: string): PrototextProblem {
    return new PrototextProblem("prototext-syntax", message, { offset: this.#at });
  }
}

function toNumber(text: string): number {
  const plain = /^-?0[xX]/.test(text) ? text : text.replace(/[fF]$/, "");
  if (/^-0[xX]/.test(plain)) return -Number(plain.slice(1));
  return /^-?0[0-7]+$/.test(plain) ? Number.parseInt(plain, 8) : Number(plain);
}

function decodeBytes(parts: readonly Uint8Array[]): string {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return DECODER.decode(whole);
}
