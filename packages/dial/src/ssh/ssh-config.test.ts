import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { parseSshConfig } from "./ssh-config.ts";

describe("parseSshConfig()", () => {
  test("reads what ssh -G prints", () => {
    const text = [
      "host h",
      "user me",
      "hostname 192.0.2.1",
      "port 2222",
      "hostkeyalias alias",
      "identityfile ~/.ssh/id a",
      "identityfile /k",
      "identityagent none",
      "proxycommand none",
      "userknownhostsfile ~/.ssh/known_hosts /x",
      "globalknownhostsfile none",
    ].join("\n");
    expect(parseSshConfig(text, "h")).toEqual({
      address: "192.0.2.1",
      user: "me",
      port: 2222,
      hostKeyAlias: "alias",
      identityFiles: [`${homedir()}/.ssh/id a`, "/k"],
      knownHostsFiles: [`${homedir()}/.ssh/known_hosts`, "/x"],
      agent: false,
    });
  });

  test("refuses ways that only ssh can go", () => {
    expect(() => parseSshConfig("proxycommand nc %h %p", "h")).toThrow(/by way of 'nc %h %p'/);
    expect(() => parseSshConfig("proxyjump a,b", "h")).toThrow(/by way of 'a,b'/);
  });
});
