import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readCases } from "../src/read-cases.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const PAGE = join(ROOT, "docs/reference/github-actions.md");
const CASES = "conformance/cases/";

interface Page {
  readonly text: string;
  /** Files of cases by the label that the page has for them, below the folder of cases. */
  readonly files: ReadonlyMap<string, string>;
  /** `topic/file.yml: name` of each case that is named, in order. */
  readonly named: readonly string[];
}

// `[label] *a case*; *another one*`, and at the end of the page `[label]: path`.
function readPage(text: string): Page {
  const links = [...text.matchAll(/^\[([\w-]+)\]: \S*?conformance\/cases\/(\S+)$/gm)];
  const files = new Map(links.map(([, label = "", file = ""]) => [label, file]));
  const name = String.raw`\*(?:[^*\\\n]|\\.)+\*`;
  const references = text.matchAll(new RegExp(String.raw`\[([\w-]+)\] (${name}(?:; ${name})*)`, "g"));
  const named = [...references].flatMap(([, label = "", list = ""]) => {
    const names = list.match(new RegExp(name, "g")) ?? [];
    return names.map((found) => `${files.get(label) ?? label}: ${found.slice(1, -1).replaceAll("\\", "")}`);
  });
  return { text, files, named };
}

/** Returns the claims of a page about cases that are not true. */
function problemsOf({ files, named, text }: Page, known: ReadonlySet<string>): string[] {
  const gone = named.filter((id) => !known.has(id)).map((id) => `there is no case "${id}"`);
  const emphasised = text.match(/; \*|\] \*/g)?.length ?? 0;
  const unread = emphasised === named.length ? [] : [`${emphasised - named.length} cases have no file before them`];
  const unused = [...files].filter(([, file]) => !named.some((id) => id.startsWith(`${file}: `)));
  return [...gone, ...unread, ...unused.map(([label]) => `"${label}" is linked and names no case`)];
}

describe("the page of GitHub Actions", () => {
  const page = readPage(readFileSync(PAGE, "utf8"));
  const known = new Set(readCases().map(({ id }) => id));

  test("names cases that are there", () => {
    expect(problemsOf(page, known)).toEqual([]);
    expect(page.named.length).toBeGreaterThan(100);
  });

  test("would be told of a case that has gone", () => {
    const read = (text: string): string[] => problemsOf(readPage(text), new Set(["t/a.yml: one", "t/a.yml: t*o"]));
    const end = `\n\n[a]: ../${CASES}t/a.yml\n`;
    expect(read(`| x | [a] *one*; *t\\*o* |${end}`)).toEqual([]);
    expect(read(`| x | [a] *one*; *three* |${end}`)).toEqual(['there is no case "t/a.yml: three"']);
    expect(read(`| x | [b] *one* |${end}`)).toEqual(['there is no case "b: one"', '"a" is linked and names no case']);
    expect(read(`| x | [a] *one* |; *one*${end}`)).toEqual(["1 cases have no file before them"]);
  });

  test("links to files that are there", () => {
    const targets = [...page.text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)|^\[[\w-]+\]: (\S+)$/gm)];
    const paths = targets.map(([, inline, referenced]) => inline ?? referenced ?? "");
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(dirname(PAGE), path)))).toEqual([]);
  });
});

describe("the page of .gitlab-ci.yml", () => {
  const text = readFileSync(join(ROOT, "docs/reference/gitlab-ci.md"), "utf8");
  const known = new Set(readCases().map(({ id }) => id));

  // `file.yml`: a case; `other.yml`: another one. A file without a folder is one of gitlab-ci.
  function casesOf(page: string): string[] {
    const cells = [...page.matchAll(/^\|.*\|([^|]+)\|$/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([\w/-]+\.yml)`: (.+?)(?=; `|\s*$)/g)]);
    return named.map(([, file = "", name = ""]) => `${file.includes("/") ? file : `gitlab-ci/${file}`}: ${name}`);
  }

  test("names cases that are there", () => {
    const named = casesOf(text);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    expect(named.length).toBeGreaterThan(40);
  });

  test("would be told of a case that has gone", () => {
    expect(casesOf("| `a` | b | `x.yml`: one; `p/y.yml`: two, and more |\n")).toEqual([
      "gitlab-ci/x.yml: one",
      "p/y.yml: two, and more",
    ]);
  });
});
