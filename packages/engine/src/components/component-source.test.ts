import * as fc from "fast-check";
import type { ComponentRequest } from "@steps/cache";
import { describe, expect, test } from "vitest";
import { type ComponentSource, findSource, parseComponentSource } from "./component-source.ts";

const git = (url: string, version = "v1"): ComponentRequest => ({ kind: "git", url, version });
const oci = (registry: string, repository: string, tag: string): ComponentRequest => ({
  kind: "oci",
  registry,
  repository,
  tag,
});

function found(texts: readonly string[], request: ComponentRequest): unknown {
  const sources = texts.map((text) => parseComponentSource(text, "/here"));
  const source = findSource(sources as ComponentSource[], request);
  return source !== undefined && "request" in source ? source.request : source;
}

describe("a component source", () => {
  test.each<[string, ComponentRequest, unknown]>([
    ["gitlab.com/g/p=./x", git("https://gitlab.com/g/p"), { kind: "local", dir: "/here/x" }],
    ["GitLab.com/g/p=/x", git("https://user:pass@gitlab.com/g/p"), { kind: "local", dir: "/x" }],
    ["git+https://gitlab.com/g/p@v1=/x", git("https://gitlab.com/g/p"), { kind: "local", dir: "/x" }],
    ["gitlab.com/g/p@a/b=/x", git("https://gitlab.com/g/p", "a/b"), { kind: "local", dir: "/x" }],
    ["gitlab.com/g/p@v2=/x", git("https://gitlab.com/g/p"), undefined],
    ["gitlab.com/g/p=/x", git("https://gitlab.com/g/p2"), undefined],
    ["gitlab.com/g/=/x", git("https://gitlab.com/g/p/q"), { kind: "local", dir: "/x/p/q" }],
    ["gitlab.com/g/=/x", git("https://gitlab.com/group/p"), undefined],
    ["gitlab.com/g/=/x", git("https://gitlab.com/g/../../etc"), undefined],
    ["ssh://git@host/g/p=/x", git("ssh://git@host/g/p"), { kind: "local", dir: "/x" }],
    ["gitlab.com/g/p=ssh://git@host/p", git("https://gitlab.com/g/p"), git("ssh://git@host/p")],
    ["gitlab.com/g/p=https://host/p@main", git("https://gitlab.com/g/p"), git("https://host/p", "main")],
    ["gitlab.com/g/=https://host/all", git("https://gitlab.com/g/p"), git("https://host/all/p")],
    ["gitlab.com/g/p=oci://r/p:1", git("https://gitlab.com/g/p"), oci("r", "p", "1")],
    ["r:5000/a/b=/x", oci("r:5000", "a/b", "1"), { kind: "local", dir: "/x" }],
    ["r:5000/a/b:1=/x", oci("r:5000", "a/b", "1"), { kind: "local", dir: "/x" }],
    ["oci://r/a:1=/x", git("https://r/a", "1"), undefined],
    ["r/a=oci://other/b", oci("r", "a", "1"), oci("other", "b", "1")],
    ["r/=oci://other", oci("r", "a/b", "1"), oci("other", "a/b", "1")],
    ["r/a=oci://other/b:2", oci("r", "a", "1"), oci("other", "b", "2")],
    [
      "https://h/x.zip=./y.zip",
      { kind: "zip", url: "https://h/x.zip", sha256: "00" },
      { kind: "zip", url: "/here/y.zip", sha256: "00" },
    ],
    ["/x=/y", { kind: "local", dir: "/x" }, undefined],
  ])("%s", (text, request, expected) => {
    expect(found([text], request)).toEqual(expected);
  });

  test("with a version goes before one without, and a longer name before a shorter one", () => {
    const texts = ["h/=/all", "h/a/=/below", "h/a/b=/any", "h/a/b@v1=/one"];
    expect(found(texts, git("https://h/a/b", "v1"))).toEqual({ kind: "local", dir: "/one" });
    expect(found(texts, git("https://h/a/b", "v2"))).toEqual({ kind: "local", dir: "/any" });
    expect(found(texts, git("https://h/a/c"))).toEqual({ kind: "local", dir: "/below/c" });
    expect(found(texts, git("https://h/x"))).toEqual({ kind: "local", dir: "/all/x" });
  });

  test("is read or refused, and never throws", () => {
    const fragment = fc.constantFrom(
      "=",
      "/",
      "@",
      ":",
      "//",
      "oci://",
      "https://",
      "git+",
      "a",
      "h.x",
      "./",
      "..",
      "v1",
      ".zip",
      " ",
      "\n",
      "%",
      "sha256:",
    );
    const text = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(""));
    const requests = [
      git("https://h.x/a"),
      git("not a url", ""),
      oci("h.x", "a", "v1"),
      { kind: "zip", url: "a.zip" },
    ] as const;
    fc.assert(
      fc.property(text, (source) => {
        const parsed = parseComponentSource(source, "/here");
        if (!("message" in parsed)) for (const request of requests) findSource([parsed], request);
      }),
    );
  });
});
