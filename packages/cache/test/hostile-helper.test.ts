import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRemote } from "@steps/transfer";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { credentialTarget } from "../src/credentials/credential.ts";
import { askHelpers } from "../src/credentials/git-credential.ts";
import { findGit } from "../src/git/git-process.ts";

const program = findGit(process.env) as string;
const target = { host: "git.example.com", path: "private/tools", user: undefined };

/** The answer of a helper that is this script of the shell, in a home of its own. */
async function answerOf(script: string, options: { user?: string; timeoutMs?: number } = {}): Promise<unknown> {
  const home = tempDir();
  const file = join(home, "helper");
  writeFileSync(file, `#!/bin/sh\ntest "$1" = get || exit 0\ncd ${home}\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(home, ".gitconfig"), `[credential]\n\thelper = ${file}\n`);
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const { user, ...rest } = options;
  const answer = await askHelpers({ ...target, user }, { program, env, ...rest });
  return "nothing" in answer ? answer.nothing : answer.password;
}

test("a helper's answer is taken only for the server that it was asked for, in lines that can be sent", async () => {
  expect(await answerOf("echo username=you; echo password=right")).toBe("right");
  expect(await answerOf("echo host=evil.example; echo username=you; echo password=s3cret")).toBe(
    "git's credential helper answered for another server than git.example.com",
  );
  expect(await answerOf("echo protocol=http; echo username=you; echo password=s3cret")).toBe(
    "git's credential helper answered for another server than git.example.com",
  );
  const bad = (secret: string): Promise<unknown> => answerOf(`printf 'username=you\\npassword=${secret}\\n'`);
  for (const secret of ["a\\033[31m", "a\\177", "gr\\374n"]) {
    expect(await bad(secret)).toBe("git's credential helper gave a user or a password that cannot be sent");
  }
  // Newer gits refuse it themselves.
  expect(await bad("a\\rb")).toMatch(/cannot be sent|knows no credentials/);
  expect(await answerOf("echo username=a:b; echo password=s3cret")).toBe(
    "git's credential helper gave a user or a password that cannot be sent",
  );
  expect(await answerOf("echo username=other; echo password=s3cret", { user: "you" })).toBe(
    "git's credential helper answered for another user than you",
  );
  expect(await answerOf("echo username=you; echo password=")).toMatch(/did not give a user and a password/);
});

test("a helper that fails, gives up or says nonsense has nothing", async () => {
  for (const script of ["exit 3", "echo quit=1", "echo s3cret", "kill -9 $$", "yes s3cret", ""]) {
    expect(await answerOf(script)).toBe("git knows no credentials for git.example.com");
  }
});

test("a helper that says too much, or nothing in its time, is not waited for", async () => {
  const long = "echo username=you; printf password=; head -c 200000 /dev/zero | tr '\\0' a; echo";
  expect(await answerOf(long)).toBe("git's credential helper said too much to be read");
  expect(await answerOf("sleep 1000", { timeoutMs: 200 })).toBe("git's credential helper did not answer within 200 ms");
  // What it started holds its output open, and says nothing more.
  expect(await answerOf("sleep 1000 2>/dev/null >&2 & echo username=you; echo password=right")).toBe("right");
});

test("no text of two lines becomes a question", () => {
  const remote = openRemote("https://git.example.com:8443/private/tools/", {});
  expect(credentialTarget(remote)).toEqual({ host: "git.example.com:8443", path: "private/tools", user: undefined });
  const spoiled = ["https://git.example.com/a%0Ahost=evil", "https://git.example.com/%e2%80%a8", "https://u%0a@x/y"];
  for (const url of spoiled) {
    const read = (): unknown => credentialTarget({ ...remote, url, user: url.includes("@") ? "u\n" : undefined });
    expect(read()).toBeUndefined();
  }
  expect(credentialTarget({ ...remote, url: "https://git.example.com/100%" })?.path).toBe("100%");
  for (const other of ["http://git.example.com/x", "ssh://git@git.example.com/x", "file:///x", "https://u:p@h/x"]) {
    expect(credentialTarget(openRemote(other, {}))).toBeUndefined();
  }
});
