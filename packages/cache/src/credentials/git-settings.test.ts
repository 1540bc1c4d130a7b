import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { readGitSettings, rewriteHint } from "./git-settings.ts";

const GIT = (process.env["PATH"] ?? "").split(":").map((dir) => join(dir, "git"));

test("readGitSettings() reads helpers and rules as git has them, with what the configuration includes", async () => {
  const home = tempDir();
  const config = `[credential]
	helper = cache
	helper =
	helper = store --file ~/x
[credential "https://github.com"]
	helper =
	helper = !/usr/bin/gh auth git-credential
[include]
	path = more
`;
  writeFileSync(join(home, ".gitconfig"), config);
  writeFileSync(join(home, "more"), '[url "git@github.com:"]\n\tinsteadOf = https://github.com/\n\tinsteadOf = gh:\n');
  const program = GIT.find((path) => existsSync(path)) as string;
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  expect(await readGitSettings(program, env)).toEqual({
    helpers: ["store --file ~/x", "!/usr/bin/gh auth git-credential"],
    rewrites: [
      { base: "git@github.com:", prefix: "https://github.com/" },
      { base: "git@github.com:", prefix: "gh:" },
    ],
  });
  expect(await readGitSettings(program, { PATH: env.PATH, GIT_CONFIG_NOSYSTEM: "1" })).toEqual({
    helpers: [],
    rewrites: [],
  });
  expect(await readGitSettings("/nowhere/git", env)).toEqual({ helpers: [], rewrites: [] });
});

test("rewriteHint() takes the longest rule, makes a URL of an address of ssh, and shows no secret", () => {
  const rewrites = [
    { base: "https://short/", prefix: "https://a/" },
    { base: "git@b:sub/", prefix: "https://a/g/" },
    { base: "https://u:s3cret@c/", prefix: "https://c/" },
    { base: "ssh://git@d/", prefix: "https://d/" },
  ];
  const mirrorOf = (url: string): string | undefined => rewriteHint(url, { rewrites })?.replace(/^.*_MIRROR=/, "");
  expect(mirrorOf("https://a/g/p")).toBe("https://a/g/=ssh://git@b/sub/");
  expect(mirrorOf("https://a/x")).toBe("https://a/=https://short/");
  expect(mirrorOf("https://c/x")).toBe("https://c/=https://USER:TOKEN@c/");
  expect(mirrorOf("https://d/x")).toBe("https://d/=ssh://git@d/");
  expect(mirrorOf("https://e/x")).toBeUndefined();
});
