import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseNetrc } from "./netrc.ts";

test("parseNetrc() reads words over any number of lines", () => {
  const text =
    "machine a\n\tlogin u password p\n# machine x login y password z\nmachine b password q account c login v default\nlogin d password e";
  expect(parseNetrc(text)).toEqual([
    { machine: "a", login: "u", password: "p" },
    { machine: "b", login: "v", password: "q" },
    { login: "d", password: "e" },
  ]);
});

test("parseNetrc() reads quoted words, and skips macros", () => {
  const text =
    'machine a login "u v" password "p\\"#\\\\ w"\nmacdef init\nmachine evil login x password y\n\nmachine b login "x';
  expect(parseNetrc(text)).toEqual([
    { machine: "a", login: "u v", password: 'p"#\\ w' },
    { machine: "b", login: '"x' },
  ]);
  expect(parseNetrc("machine machine login login password password")).toEqual([
    { machine: "machine", login: "login", password: "password" },
  ]);
  expect(parseNetrc("login a password b machine")).toEqual([]);
});

test("parseNetrc() reads any text", () => {
  const word = fc.constantFrom("machine", "login", "password", "macdef", "default", '"', "\\", "\n", " ", "a", "#");
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      for (const { login, password } of parseNetrc(words.join(" "))) {
        expect(typeof (login ?? "")).toBe("string");
        expect(typeof (password ?? "")).toBe("string");
      }
    }),
  );
});
