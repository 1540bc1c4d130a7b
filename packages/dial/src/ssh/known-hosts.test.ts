import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkHostKey, fingerprintOf, knownHostName, knownKeyTypes, parseKnownHosts } from "./known-hosts.ts";

const ED25519 = "AAAAC3NzaC1lZDI1NTE5AAAAIGJuHQ3SXwwpDOhXFl9yHJn/2JE0L9lEoBuVXEUp6XqK";
const OTHER = "AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const key = Buffer.from(ED25519, "base64");

function check(text: string, host: string, port = 22): string {
  return checkHostKey(parseKnownHosts(text, "f"), knownHostName(host, port), key).status;
}

function hashed(name: string): string {
  const salt = randomBytes(20);
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(name).digest("base64")}`;
}

describe("checkHostKey()", () => {
  test.each([
    ["example.org", "example.org", 22],
    ["EXAMPLE.org,other", "Example.ORG", 22],
    ["*.example.org", "a.b.example.org", 22],
    ["*.example.org,!b.example.org", "a.example.org", 22],
    ["192.0.2.?", "192.0.2.7", 22],
    ["[example.org]:2222", "example.org", 2222],
    ["[*]:2222", "example.org", 2222],
    ["2001:db8::1", "2001:DB8::1", 22],
    [hashed("example.org"), "example.org", 22],
    [hashed("[example.org]:2222"), "example.org", 2222],
  ])("%s is %s at port %i", (hosts, host, port) => {
    expect(check(`${hosts} ssh-ed25519 ${ED25519} a comment`, host, port)).toBe("known");
    expect(check(`${hosts} ssh-ed25519 ${OTHER}`, host, port)).toBe("changed");
    expect(check(`@revoked ${hosts} ssh-ed25519 ${ED25519}`, host, port)).toBe("revoked");
    expect(check(`@cert-authority ${hosts} ssh-ed25519 ${ED25519}`, host, port)).toBe("authority");
  });

  test.each([
    ["example.org", "example.com", 22],
    ["example.org", "an.example.org", 22],
    ["example.org", "example.org", 2222],
    ["[example.org]:2222", "example.org", 22],
    ["*.example.org,!b.example.org", "b.example.org", 22],
    ["!b.example.org", "a.example.org", 22],
    [hashed("example.org"), "example.com", 22],
    ["|2|AAAA|AAAA", "example.org", 22],
    ["|1|", "example.org", 22],
  ])("%s is not %s at port %i", (hosts, host, port) => {
    expect(check(`${hosts} ssh-ed25519 ${ED25519}`, host, port)).toBe("unknown");
  });

  test("passes over what makes no sense", () => {
    const text = [
      "",
      "# h",
      "h",
      "h ssh-ed25519",
      "h ssh-ed25519 !!!",
      "@marker h ssh-ed25519 " + ED25519,
      "h 1024 35 1",
    ];
    expect(parseKnownHosts(text.join("\r\n"), "f")).toEqual([]);
    expect(check(`${text.join("\n")}\n h\tssh-ed25519   ${ED25519} c\r\n`, "h")).toBe("known");
  });

  test("a revoked key is refused though another line has it, and one right line is enough", () => {
    expect(check(`h ssh-ed25519 ${ED25519}\n@revoked * ssh-ed25519 ${ED25519}`, "h")).toBe("revoked");
    expect(check(`h ssh-ed25519 ${OTHER}\nh ssh-ed25519 ${ED25519}`, "h")).toBe("known");
  });

  test("answers at once, whatever the pattern", () => {
    expect(check(`${"*a".repeat(5000)}b ssh-ed25519 ${ED25519}`, "a".repeat(200))).toBe("unknown");
  });

  test("knows types and fingerprints as ssh-keygen prints them", () => {
    expect([...knownKeyTypes(parseKnownHosts(`h x ${ED25519}`, "f"), "h")]).toEqual(["ssh-ed25519"]);
    expect(fingerprintOf(key)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });
});
