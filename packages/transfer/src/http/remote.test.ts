import { expect, test } from "vitest";
import { openRemote } from "./remote.ts";

test("openRemote() takes credentials off and keeps one name for one place", () => {
  const remote = openRemote("https://u%40x:p%3A1@GitLab.com:443/g/p.git/", {});
  expect(remote).toEqual({
    location: "https://gitlab.com/g/p.git",
    url: "https://gitlab.com/g/p.git/",
    scheme: "https",
    authorization: `Basic ${Buffer.from("u@x:p:1").toString("base64")}`,
    isMirror: false,
  });
  expect(openRemote("git+https://gitlab.com/g/p.git#x", {}).location).toBe(remote.location);
  expect(openRemote("https://gitlab.com:8443/g/p.git", {}).location).toBe("https://gitlab.com:8443/g/p.git");
});

test("openRemote() keeps the user of ssh, and nobody's password", () => {
  const { url, location, authorization } = openRemote("ssh://git:secret@host/g/p", {});
  expect([url, location, authorization]).toEqual(["ssh://git@host/g/p", "ssh://host/g/p", undefined]);
});

test("openRemote() gives a mirror its own credentials, and the longest prefix wins", () => {
  const mirrors = { "https://a/": "http://wrong/", "https://a/g/": "http://m:1@mirror/x/" };
  const remote = openRemote("https://u:secret@a/g/p", mirrors);
  expect([remote.location, remote.url, remote.isMirror]).toEqual(["https://a/g/p", "http://mirror/x/p", true]);
  expect(remote.authorization).toBe(`Basic ${Buffer.from("m:1").toString("base64")}`);
  expect(openRemote("https://u:secret@a/other", mirrors).authorization).toBeUndefined();
});

test("openRemote() never shows credentials in an error", () => {
  expect(() => openRemote("ftp://u:secret@host/x", {})).toThrow(/^Cannot use URL "ftp:\/\/host\/x"/);
});
