import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCommandLine, UsageError } from "@steps/console";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { run } from "./commands/run.ts";
import { openTarget, readAddress, type Target } from "./dial-target.ts";

function open(...args: readonly string[]): Target {
  return openTarget(parseCommandLine(run, ["steps.yml", ...args], {}).options);
}

describe("openTarget", () => {
  test.each([
    [[], "this machine", true],
    [["--socket", "/run/s"], "socket /run/s", true],
    [["--docker", "build"], "docker build", false],
    [
      ["--docker", "build", "--docker-host", "tcp://h:2376", "--proxy", "step-runner proxy --socket /s"],
      "docker build",
      false,
    ],
    [["--kubernetes", "ci/pod/build", "--context", "c", "--kubeconfig", "f"], "kubernetes ci/pod/build", false],
    [["--command", "sh -c 'a b'"], "command sh -c 'a b'", false],
    [["--ssh", "ci@host:2222", "--accept-new-host-key", "--identity", "k"], "ssh ci@host:2222", false],
    [["--ssh", "ci@host", "--socket", "/run/s"], "ssh ci@host /run/s", false],
  ])("%j", async (args, name, isHere) => {
    await using target = open(...args);
    expect(target).toMatchObject({ name, isHere });
  });

  test.each([
    [["--docker", "a", "--socket", "b"], "Give one of --docker and --socket"],
    [["--docker", ""], "--docker is empty"],
    [["--socket", "b", "--proxy", "x"], "--proxy is for --docker, --ssh, --kubernetes"],
    [["--accept-new-host-key"], "--accept-new-host-key is for --ssh"],
    [["--docker", "a", "--identity", "k"], "--identity is for --ssh"],
    [["--kubernetes", "pod"], '--kubernetes is "pod"'],
    [["--kubernetes", "a/b/"], '--kubernetes is "a/b/"'],
    [["--ssh", "a@b:c"], '--ssh is "a@b:c"'],
    [["--command", "'a"], "--command has a quote without an end"],
    [["--command", " "], "--command names no command"],
  ])("%j is refused", (args, message) => {
    expect(() => open(...args)).toThrow(UsageError);
    expect(() => open(...args)).toThrow(message);
  });

  test("the files of --docker-tls have to be there", () => {
    const dir = tempDir();
    writeFileSync(join(dir, "ca.pem"), "");
    expect(() => open("--docker", "a", "--docker-tls", dir)).toThrow(/ENOENT.*cert\.pem/);
  });
});

describe("readAddress", () => {
  test.each([
    ["host", { user: undefined, host: "host", port: undefined }],
    ["me@host:2222", { user: "me", host: "host", port: 2222 }],
    ["me@corp@host", { user: "me@corp", host: "host", port: undefined }],
    ["[::1]:22", { user: undefined, host: "::1", port: 22 }],
    ["me@[fe80::1%eth0]", { user: "me", host: "fe80::1%eth0", port: undefined }],
    ["me@::1", { user: "me", host: "::1", port: undefined }],
  ])("%s", (text, expected) => {
    expect(readAddress(text)).toEqual(expected);
  });

  test.each(["", "@host", "me@", "host:", "host:0", "host:65536", "host:x", "[::1", "a:b"])(
    "%j is no address",
    (text) => {
      expect(() => readAddress(text)).toThrow(UsageError);
    },
  );
});
