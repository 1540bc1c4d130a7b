import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMasker, type Masker } from "../src/entries/mask.ts";

const UNITS = Array.from(
  "abcdXYZ0189 -_.~!*'()/:;,?@&=+$#\"\\`|<>[]{}^%\t\n\r\u0001\u001b\u007f\u0085\u00a0éßü\u200b€日本😀",
);
const value = fc
  .string({ unit: fc.constantFrom(...UNITS), minLength: 8, maxLength: 90 })
  .filter((text) => Buffer.byteLength(text.trim()) >= 8);
const VALUES = [
  "it's a 'secret' of \"two\" quotes",
  "plain-secret-1234",
  "~home/#1=~x:~y",
  "tab\tand\nline\\é",
  "x".repeat(70),
  ...fc.sample(value, { numRuns: 35, seed: 1 }),
];

/** Runs a tool once for all values and gives what it printed for each. */
function encode(command: readonly string[], env: Readonly<Record<string, string>> = {}): string[] {
  const [program = "", ...args] = command;
  const { stdout, stderr, status } = spawnSync(program, [...args, ...VALUES], {
    env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program}: ${stderr.toString()}`);
  const printed = stdout.toString("utf8").split("\0");
  expect(printed.pop()).toBe("");
  expect(printed).toHaveLength(VALUES.length);
  return printed;
}

const maskers = new Map<string, Masker>();

/** A masker that knows one secret. Its forms take longer to be made than a text to be masked. */
function maskerOf(secret: string): Masker {
  const known = maskers.get(secret) ?? createMasker();
  if (!maskers.has(secret)) known.add(secret);
  maskers.set(secret, known);
  return known;
}

/** Returns the part of an encoded value that is not masked, in the log and in a text. */
function left(secret: string, encoded: string): string {
  const masker = maskerOf(secret);
  const stream = masker.stream();
  const parts = [...Buffer.from(encoded)].map((byte) => Buffer.from(stream.push(Buffer.from([byte]))));
  const inStream = Buffer.concat([...parts, stream.end()]).toString();
  expect(inStream).toBe(masker.text(encoded));
  return inStream.replaceAll("[MASKED]", "");
}

const python = (expression: string): string[] => [
  "python3",
  "-c",
  `import sys, os, json, urllib.parse, base64\nfor v in map(os.fsencode, sys.argv[1:]):\n s = v.decode()\n sys.stdout.buffer.write((${expression}).encode() + b"\\0")`,
];
const node = (expression: string): string[] => [
  process.execPath,
  "-e",
  `const util = require("node:util"); for (const v of process.argv.slice(1)) process.stdout.write((${expression}) + "\\0")`,
  "--",
];
const bash = (command: string): string[] => ["bash", "-c", `for v; do ${command}; printf '\\0'; done`, "bash"];

describe("a secret is masked in what tools make of it", () => {
  const QUOTES = /^(?:[bu]?['"`]|\$')?(?:['"`])?$/;

  test.each([
    ["Python's repr()", python("repr(s)"), QUOTES],
    ["Python's repr() of bytes", python("repr(v)"), /^b['"]{2}$/],
    ["Python's ascii()", python("ascii(s)"), QUOTES],
    ["Python's urllib.parse.quote", python("urllib.parse.quote(s)"), /^$/],
    ["Python's urllib.parse.quote_plus", python("urllib.parse.quote_plus(s)"), /^$/],
    ["Python's urllib.parse.urlencode", python("urllib.parse.urlencode({'k': s})"), /^k=$/],
    ["Python's json.dumps", python("json.dumps(s)"), /^""$/],
    ["Python's json.dumps twice", python("json.dumps(json.dumps(s))"), /^"\\"\\""$/],
    ["Python's json.dumps without ASCII", python("json.dumps(s, ensure_ascii=False)"), /^""$/],
    ["Node's inspect()", node("util.inspect(v, { breakLength: Infinity })"), QUOTES],
    ["Node's inspect() of an object", node("util.inspect({ v }, { breakLength: Infinity })"), /^\{ v: ['"`]{2} \}$/],
    ["encodeURI", node("encodeURI(v)"), /^$/],
    ["encodeURIComponent", node("encodeURIComponent(v)"), /^$/],
    ["a URL's query", node("new URL('http://h/?k=' + encodeURIComponent(v)).search"), /^\?k=$/],
    ["URLSearchParams", node("new URLSearchParams({ k: v })"), /^k=$/],
    ["JSON.stringify", node("JSON.stringify(v)"), /^""$/],
    ["JSON in JSON", node("JSON.stringify(JSON.stringify(v))"), /^"\\"\\""$/],
    ["base64url", node("Buffer.from(v).toString('base64url')"), /^.{0,1}$/],
  ])("%s", (_, command, rest) => {
    for (const [at, encoded] of encode(command).entries()) {
      expect(left(VALUES[at] ?? "", encoded), encoded).toMatch(rest);
    }
  });

  describe.each(["C.UTF-8", "C"])("in the locale %s", (locale) => {
    test.each([
      ["printf %q", bash(`printf %q "$v"`), /^(?:\$'')?$/],
      ["${v@Q}", bash(`printf %s "\${v@Q}"`), /^\$?''$/],
      ["declare -p", bash("declare -p v"), /^declare -- v=(?:\$''|"")\n$/],
      ["set -x", bash(`{ set -x; : "$v"; set +x; } 2>&1`), /^\+* ?: (?:\$?'')?\n\+* ?set \+x\n$/],
    ])("bash's %s", (_, command, rest) => {
      for (const [at, encoded] of encode(command, { LC_ALL: locale }).entries()) {
        expect(left(VALUES[at] ?? "", encoded), encoded).toMatch(rest);
      }
    });
  });

  test.each([
    ["base64", "base64"],
    ["base64 -w 20", "base64 -w 20"],
    ["xxd -p", "xxd -p"],
    ["xxd -p -u", "xxd -p -u"],
    ["openssl base64", "openssl base64"],
  ])("%s, in lines", (_, tool) => {
    for (const [at, encoded] of encode(bash(`printf %s "$v" | ${tool}`)).entries()) {
      const secret = VALUES[at] ?? "";
      // Base64 that is too short for the usual width is not looked for across the lines of a narrower one.
      if (tool.endsWith("20") && Buffer.byteLength(secret) < 32) continue;
      // The last digit of Base64 also says that nothing comes after; 3 bytes of hex at the end of a line stay.
      expect(left(secret, encoded).replaceAll(/[\n=]/g, "").length, encoded).toBeLessThanOrEqual(
        tool.startsWith("xxd") ? 12 : 1,
      );
    }
  });

  test.each(["od", "od -An", "od -b", "od -c", "od -x", "od -t x1", "od -An -v -t x1", "xxd -p -c 16"])(
    "%s, but for pieces of 3 bytes at the ends of rows",
    (tool) => {
      for (const lead of ["", "0123456789abc"]) {
        const command = bash(`printf %s "${lead}$v" | ${tool}`);
        for (const [at, encoded] of encode(command).entries()) {
          const rows = left(VALUES[at] ?? "", encoded)
            .split("\n")
            .map((row) => row.replace(tool.includes("-An") ? "" : /^[0-9]{7}(?= |$)/, "").replaceAll(/\s/g, "").length);
          // At most three digits stand for a byte.
          rows[0] = (rows[0] ?? 0) - lead.length * 3;
          expect(Math.max(...rows), encoded).toBeLessThanOrEqual(6 * 3);
        }
      }
    },
  );
});
