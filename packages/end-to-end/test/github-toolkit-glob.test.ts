import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertEnded, createKitUser, type Kit, startKit } from "./github-toolkit-harness.ts";

const FILES = [
  "package-lock.json",
  "a/package-lock.json",
  "a/b/package-lock.json",
  "a/.hidden/package-lock.json",
  ".config/settings.yml",
  ".env",
  "docs/x y.md",
  "docs/[z].md",
  "docs/z.md",
  "docs/README.MD",
  "src/main.c",
  "src/main.h",
  "src/deep/er/main.c",
  "src-extra/main.c",
  "src.c",
  "Ärger/ö.txt",
  "z/empty",
];

/** Lists of patterns; in an expression each pattern is an argument. */
const LISTS: readonly (readonly string[])[] = [
  ["**/package-lock.json"],
  ["**"],
  ["*"],
  ["**/*"],
  ["src"],
  ["src/"],
  ["src/**", "!src/**/*.h"],
  ["!src/**", "src/*.c"],
  ["**", "!**/package-lock.json", "a/b/package-lock.json"],
  ["# a comment", "docs/*.md", "  ", "\\#no", "  !docs/z.md"],
  ["docs/[[]z].md"],
  ["docs/[xz]*.md"],
  ["docs/x?y.md"],
  ["docs/*.MD"],
  [".*"],
  ["**/.*/**"],
  ["src*/main.?"],
  ["./src/main.c", "./src.c"],
  ["linked/*"],
  ["linked"],
  ["linked/**", "!linked/deep"],
  ["a/**", "src/**", "a/b/**"],
  ["z/**", "a/**"],
  ["Ä*/**"],
  ["nothing/**"],
  ["!**"],
  ["/nowhere/**"],
  ["**/main.c", "!**/er/**"],
  ["**/er"],
  ["link-to-file"],
  ["package-lock.json/", "**/a/"],
  ["docs//z.md", "!!src.c"],
];

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const FOLLOW = "--follow-symbolic-links";

// Variables of a step: the outputs of a composite action have no hashFiles.
const environment = LISTS.flatMap((list, index) =>
  [list, [FOLLOW, ...list]].map((patterns, follows) => [
    `${follows === 1 ? "F" : "H"}${index}`,
    `\${{ hashFiles(${patterns.map(quoted).join(", ")}) }}`,
  ]),
);
const OURS = {
  outputs: { found: { value: "${{ toJSON(steps.hash.outputs) }}" } },
  runs: {
    using: "composite",
    steps: [
      {
        id: "hash",
        env: Object.fromEntries(environment) as object,
        run: "env | grep '^[HF][0-9]*=' >> \"$GITHUB_OUTPUT\"",
        shell: "sh",
      },
    ],
  },
};

let kit: Kit;

beforeAll(async () => {
  kit = await startKit(
    {
      globs: "inputs: {lists: {}}\nruns: {using: node24, main: ../dist/globs.js}",
      ours: JSON.stringify(OURS),
    },
    { esm: ["globs"] },
  );
});

afterAll(() => kit.close());

test("hashFiles is that of @actions/glob", async () => {
  const user = createKitUser(kit);
  for (const file of FILES) {
    mkdirSync(dirname(join(user.workspace, file)), { recursive: true });
    writeFileSync(join(user.workspace, file), file.endsWith("empty") ? "" : `content of ${file}`);
  }
  symlinkSync("src", join(user.workspace, "linked"));
  symlinkSync("src/main.c", join(user.workspace, "link-to-file"));
  const ended = await user.ci([
    { name: "theirs", action: "acme/kit/globs@v1", inputs: { lists: JSON.stringify(LISTS) } },
    { name: "ours", action: "acme/kit/ours@v1" },
  ]);
  assertEnded(ended, 0);
  const theirs = JSON.parse((await ended.outputs("theirs"))["found"] ?? "") as {
    hash: string;
    followed: string;
    files: string[];
  }[];
  const ours = JSON.parse((await ended.outputs("ours"))["found"] ?? "") as Record<string, string>;
  const differences = LISTS.flatMap((list, index) => {
    const { hash, followed, files } = theirs[index] ?? { hash: "", followed: "", files: [] };
    const found = { hash: ours[`H${index}`], followed: ours[`F${index}`] };
    return found.hash === hash && found.followed === followed ? [] : [{ list, files, hash, followed, found }];
  });
  expect(differences).toEqual([]);
  // Most of them match something, and not all the same.
  expect(new Set(theirs.map(({ hash }) => hash)).size).toBeGreaterThan(15);
});
