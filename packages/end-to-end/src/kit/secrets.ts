import type { Random } from "./random.ts";

const TOKEN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const SIGNS = `${TOKEN}  /+=.:,;'"$\`\\&<>()[]{}!?*#%@|~^`;
const LETTERS = `${SIGNS}äöüßéñłøĀЖя中文字😀`;

/** The shapes of secrets: fixed text around random characters. */
const KINDS: Readonly<Record<string, (random: Random) => readonly [fixed: string, secret: string, ...string[]]>> = {
  token: (random) => ["", `glpat-${random.text(random.int(14, 60), TOKEN)}`, ""],
  signs: (random) => ["", edged(random, random.int(14, 80), SIGNS), ""],
  letters: (random) => ["", edged(random, random.int(14, 60), LETTERS), ""],
  lines: (random) => [
    "",
    Array.from({ length: random.int(2, 6) }, () => edged(random, random.int(12, 60), SIGNS)).join("\n"),
    "",
  ],
  key: (random) => [
    "-----BEGIN PRIVATE KEY-----\n",
    // The last line has 24 characters at least: of lines of fewer than 8 no encodings are promised.
    random
      .bytes(48 * random.int(1, 12) + random.int(18, 47))
      .toString("base64")
      .replace(/.{64}(?!$)/g, "$&\n"),
    "\n-----END PRIVATE KEY-----\n",
  ],
  json: (random) => ['{"user":"robot","password":', JSON.stringify(edged(random, random.int(14, 40), LETTERS)), "}"],
};

/** A text that begins and ends with a letter: blanks at the ends are another matter. */
function edged(random: Random, count: number, alphabet: string): string {
  return `k${random.text(count, alphabet)}k`;
}

export interface Secret {
  readonly kind: string;
  readonly secret: string;
  /** Another secret that every tool quotes in the same way: its signs are the same, and its letters and digits are not. */
  readonly other: string;
}

/** A secret whose kind follows from the seed, so that attempts in a row have all kinds. */
export function secretOf(random: Random, seed: number): Secret {
  const kinds = Object.keys(KINDS);
  const kind = kinds[seed % kinds.length] as string;
  const [before, text, after] = (KINDS[kind] as (typeof KINDS)[string])(random);
  return { kind, secret: `${before}${text}${after}`, other: `${before}${rotate(text)}${after}` };
}

function rotate(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return text.replace(/[A-Za-z0-9]/g, (char) => alphabet[(alphabet.indexOf(char) + 31) % alphabet.length] as string);
}

/** The secret and each of its lines, as they stand in files that are read as Latin-1. */
export function partsOf(secret: string): string[] {
  const lines = secret.split("\n").filter((line) => line.length >= 12 && !line.startsWith("-----"));
  return [...new Set([secret.trim(), ...lines])].map(latin1);
}

export function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
