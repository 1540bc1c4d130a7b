import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { environmentSlug, jobGroupName, slugify } from "./slugs.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("slugify()", () => {
  test.each([
    ["main", "main"],
    ["feature/Add_ÄÖ", "feature-add"],
    ["1-foo/bar", "1-foo-bar"],
    ["--x--", "x"],
    ["a  b", "a--b"],
    [`${"a".repeat(62)}/b`, "a".repeat(62)],
    ["/", ""],
  ])("slugify() makes of %j %j", (text, slug) => {
    expect(slugify(text)).toBe(slug);
  });

  test("slugify() gives what a host name takes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(slugify(text)).toMatch(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)?$/);
      }),
    );
  });
});

describe("environmentSlug()", () => {
  // The cases of GitLab's own test, spec/lib/gitlab/slug/environment_spec.rb.
  test.each([
    ["staging-12345678901234567", "staging-123456789"],
    ["9-staging-123456789012345", "env-9-staging-123"],
    ["staging-1234567890123456", "staging-1234567890123456"],
    ["Production", "production-"],
    ["PRODUCTION", "production-"],
    ["review/1-foo", "review-1-foo-"],
    ["1-foo", "env-1-foo-"],
    ["1/foo", "env-1-foo-"],
    ["foo-", "foo"],
    ["foo--bar", "foo-bar-"],
    ["foo**bar", "foo-bar-"],
    ["*-foo", "env-foo-"],
    ["staging-12345678-", "staging-12345678"],
  ])("environmentSlug() of %j begins with %j", (name, start) => {
    const slug = environmentSlug(name, sha256);
    expect(slug.startsWith(start.slice(0, 17))).toBe(true);
    expect(slug).toMatch(/^[a-z][a-z0-9-]{0,23}$/);
    if (start === slug) return;
    expect(slug.slice(-6)).toBe(
      BigInt(`0x${sha256(name)}`)
        .toString(36)
        .slice(-6),
    );
  });

  test("environmentSlug() differs for names that look alike", () => {
    expect(new Set(["Prod", "PROD", "prod", "prod!"].map((name) => environmentSlug(name, sha256))).size).toBe(4);
  });
});

describe("jobGroupName()", () => {
  test.each([
    ["test", "test"],
    ["test 1/3", "test"],
    ["test 1 3", "test"],
    ["test: [linux, 20]", "test"],
    ["test: [a]: [b]", "test"],
    ["rspec 0:1", "rspec"],
    ["build 12", "build 12"],
    ["a".repeat(300), "a".repeat(300)],
    ["[ ".repeat(120), "[ ".repeat(120).trim()],
  ])("jobGroupName() of %j is %j", (name, group) => {
    expect(jobGroupName(name)).toBe(group);
  });
});
