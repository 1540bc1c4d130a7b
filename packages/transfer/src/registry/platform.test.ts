import { expect, test } from "vitest";
import { choosePlatform, formatPlatform, normalizePlatform, type Platform } from "./platform.ts";

function parse(text: string): Platform {
  const [os = "", architecture = "", variant] = text.split("/");
  return { os, architecture, variant };
}

test.each([
  ["linux/x86_64", "linux/amd64"],
  ["Linux/amd64/v1", "linux/amd64"],
  ["linux/aarch64", "linux/arm64"],
  ["linux/arm64/v8", "linux/arm64"],
  ["linux/arm64/8", "linux/arm64"],
  ["linux/arm", "linux/arm/v7"],
  ["linux/armhf", "linux/arm/v7"],
  ["linux/armel", "linux/arm/v6"],
  ["linux/i686", "linux/386"],
  ["linux/amd64/v3", "linux/amd64/v3"],
])("normalizePlatform() takes %s for %s", (written, meant) => {
  expect(formatPlatform(normalizePlatform(parse(written)))).toBe(meant);
});

test.each<[string, string[], string | undefined]>([
  ["linux/amd64", ["linux/arm64", "linux/amd64"], "linux/amd64"],
  ["linux/amd64", ["linux/386", "generic/generic"], "linux/386"],
  ["linux/amd64", ["generic/generic", "linux/x86_64"], "linux/x86_64"],
  ["linux/amd64", ["linux/amd64/v3", "generic/generic"], "generic/generic"],
  ["linux/amd64", ["windows/amd64"], undefined],
  ["linux/arm64", ["linux/arm/v6", "linux/arm/v7"], "linux/arm/v7"],
  ["linux/arm64", ["linux/arm/v7", "linux/arm64/v8"], "linux/arm64/v8"],
  ["linux/arm/v6", ["linux/arm/v7"], undefined],
  ["linux/arm/v7", ["linux/arm/v5"], "linux/arm/v5"],
  ["linux/amd64", ["generic/whatever"], "generic/whatever"],
  ["linux/amd64", [], undefined],
])("choosePlatform() for %s of %j", (running, there, expected) => {
  const manifests = there.map((text) => ({ text, platform: parse(text) }));
  expect(choosePlatform(manifests, parse(running))?.text).toBe(expected);
});

test("choosePlatform() takes a manifest without a platform only when it is alone", () => {
  const bare = { platform: undefined };
  expect(choosePlatform([bare], parse("linux/amd64"))).toBe(bare);
  expect(choosePlatform([bare, { platform: undefined }], parse("linux/amd64"))).toBeUndefined();
});
