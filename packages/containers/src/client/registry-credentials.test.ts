import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openCredentials, registryOf } from "./registry-credentials.ts";

describe("registryOf()", () => {
  test.each([
    ["redis", "https://index.docker.io/v1/", "docker.io"],
    ["me/app:1", "https://index.docker.io/v1/", "docker.io"],
    ["docker.io/me/app", "https://index.docker.io/v1/", "docker.io"],
    ["ghcr.io/me/app@sha256:00", "ghcr.io", "ghcr.io"],
    ["localhost/app", "localhost", "localhost"],
    ["reg:5000/app", "reg:5000", "reg:5000"],
    ["app:5000", "https://index.docker.io/v1/", "docker.io"],
  ])("of %s is %s", (image, ofDocker, ofPodman) => {
    expect(registryOf(image, "docker")).toBe(ofDocker);
    expect(registryOf(image, "podman")).toBe(ofPodman);
  });
});

describe("openCredentials()", () => {
  test("are in a file that only we read, and gone afterwards", async () => {
    const root = mkdtempSync(join(tmpdir(), "credentials-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const dir = join(root, "registry");
    const cli = { program: "/nonexistent/podman", kind: "podman" } as const;
    const place = { image: "ghcr.io/a/b", dir, signal: new AbortController().signal };
    const open = await openCredentials(cli, { username: "me", password: "a:b" }, place);
    const file = join(dir, "config.json");
    expect(open.options).toEqual([`--authfile=${file}`]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      auths: { "ghcr.io": { auth: Buffer.from("me:a:b").toString("base64") } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    open.remove();
    expect(existsSync(dir)).toBe(false);
  });
});
