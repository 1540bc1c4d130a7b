import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostWithPort, readRemote } from "./remote.ts";

describe("readRemote()", () => {
  test.each([
    ["https://gitlab.com/group/sub/name.git", "https gitlab.com 443 group/sub/name"],
    ["https://user:secret@gitlab.com/group/name", "https gitlab.com 443 group/name"],
    ["http://localhost:8080/group/name.git/", "http localhost 8080 group/name"],
    ["git@gitlab.example.com:group/name.git", "https gitlab.example.com 443 group/name"],
    ["gitlab.example.com:group/name", "https gitlab.example.com 443 group/name"],
    ["ssh://git@GitLab.example.com:2222/group/name.git", "https gitlab.example.com 443 group/name"],
    ["git://host/a/b", "https host 443 a/b"],
    ["/srv/git/name.git", undefined],
    ["../name", undefined],
    ["file:///srv/git/name.git", undefined],
    ["https://host/name", undefined],
    ["", undefined],
  ])("readRemote() reads %s as %s", (url, expected) => {
    const remote = readRemote(url);
    expect(remote && `${remote.protocol} ${remote.host} ${remote.port} ${remote.path}`).toBe(expected);
  });

  test("readRemote() keeps no password", () => {
    expect(readRemote("https://user:secret@gitlab.com/group/name")?.url).toBe("https://gitlab.com/group/name");
  });

  test("readRemote() never throws and hostWithPort() names a port that is not the usual one", () => {
    fc.assert(fc.property(fc.string(), (url) => void readRemote(url)));
    expect(hostWithPort(readRemote("http://h:81/a/b") as never)).toBe("h:81");
    expect(hostWithPort(readRemote("http://h:80/a/b") as never)).toBe("h");
  });
});
