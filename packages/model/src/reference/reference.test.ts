import { describe, expect, test } from "vitest";
import { formatReference, isReferenceProblem, parseReference } from "./reference.ts";
import type { StepReference } from "../definition/definition.ts";

const digest = "0a".repeat(32);

function messageFor(text: string): string {
  const parsed = parseReference(text);
  if (!isReferenceProblem(parsed)) throw new Error(`"${text}" was read as ${JSON.stringify(parsed)}`);
  return parsed.message;
}

describe("parseReference()", () => {
  test.each(["./a /", "/ /", "./x.zip//a /", "builtin://a /"])("refuses %j, which ends in a blank", (text) => {
    expect(messageFor(text)).toContain("ends in a blank");
  });

  test.each<[string, StepReference]>([
    [".", { kind: "local", path: "." }],
    ["./", { kind: "local", path: "." }],
    ["./a/b", { kind: "local", path: "./a/b" }],
    ["./a//b/", { kind: "local", path: "./a/b" }],
    ["./a/x.yml", { kind: "local", path: "./a", file: "x.yml" }],
    ["./a/x.yml/", { kind: "local", path: "./a", file: "x.yml" }],
    ["./x.yaml", { kind: "local", path: ".", file: "x.yaml" }],
    ["./X.YML", { kind: "local", path: ".", file: "X.YML" }],
    ["./a/x.txt", { kind: "local", path: "./a/x.txt" }],
    ["../a", { kind: "local", path: "../a" }],
    ["../../a/x.yml", { kind: "local", path: "../../a", file: "x.yml" }],
    [".hidden/a", { kind: "local", path: ".hidden/a" }],
    ["/", { kind: "local", path: "/" }],
    ["/opt/steps/x", { kind: "local", path: "/opt/steps/x" }],
    ["/x.yml", { kind: "local", path: "/", file: "x.yml" }],
    ["  ./a \n", { kind: "local", path: "./a" }],
    ["./a@v1", { kind: "local", path: "./a@v1" }],
  ])("reads local %j", (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  test.each<[string, StepReference]>([
    ["gitlab.com/g/p@v1", { kind: "git", url: "https://gitlab.com/g/p", dir: "steps", version: "v1" }],
    ["gitlab.com/g/p/-/a/b@main", { kind: "git", url: "https://gitlab.com/g/p", dir: "steps/a/b", version: "main" }],
    [
      "gitlab.com/g/p/-/a/x.yml@1f2e3d4c",
      { kind: "git", url: "https://gitlab.com/g/p", dir: "steps/a", file: "x.yml", version: "1f2e3d4c" },
    ],
    ["http://u:t@h/p.git@main", { kind: "git", url: "http://u:t@h/p.git", dir: "steps", version: "main" }],
    ["u:t@h/p@main", { kind: "git", url: "https://u:t@h/p", dir: "steps", version: "main" }],
    ["ssh://git@h:22/p@main", { kind: "git", url: "ssh://git@h:22/p", dir: "steps", version: "main" }],
    ["file:///srv/p@v1", { kind: "git", url: "file:///srv/p", dir: "steps", version: "v1" }],
    [
      "localhost:8443/p@feature/x",
      { kind: "git", url: "https://localhost:8443/p", dir: "steps", version: "feature/x" },
    ],
    ["h/@scope/p@v1", { kind: "git", url: "https://h/@scope/p", dir: "steps", version: "v1" }],
    ["h/p/-/x.yml@v1", { kind: "git", url: "https://h/p", dir: "steps", file: "x.yml", version: "v1" }],
    ["h/p/-/a/-/b@v1", { kind: "git", url: "https://h/p", dir: "steps/a/-/b", version: "v1" }],
    ["h/p/-/./a/@v1", { kind: "git", url: "https://h/p", dir: "steps/a", version: "v1" }],
    ["git+https://h/p@v1", { kind: "git", url: "https://h/p", dir: "", version: "v1" }],
    ["git+https://h/p//a/b.yml@v1", { kind: "git", url: "https://h/p", dir: "a", file: "b.yml", version: "v1" }],
    ["git+https://h/p/-/a@v1", { kind: "git", url: "https://h/p/-/a", dir: "", version: "v1" }],
    ["git+file:///srv/p.git//a@v1", { kind: "git", url: "file:///srv/p.git", dir: "a", version: "v1" }],
  ])("reads git %j", (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  test.each<[string, StepReference]>([
    ["https://h/x.zip", { kind: "zip", url: "https://h/x.zip", dir: "" }],
    ["https://h/x.ZIP//a/b.yml", { kind: "zip", url: "https://h/x.ZIP", dir: "a", file: "b.yml" }],
    [
      `https://h/x.zip//a#sha256=${digest.toUpperCase()}`,
      { kind: "zip", url: "https://h/x.zip", dir: "a", sha256: digest },
    ],
    [`./x.zip#sha256=${digest}`, { kind: "zip", url: "./x.zip", dir: "", sha256: digest }],
    ["https://h//a/x.zip//b", { kind: "zip", url: "https://h//a/x.zip", dir: "b" }],
    ["https://h/x.zip?token=a", { kind: "zip", url: "https://h/x.zip?token=a", dir: "" }],
    ["https://h/x.zip?v=1//a/y.yml", { kind: "zip", url: "https://h/x.zip?v=1", dir: "a", file: "y.yml" }],
    ["file.zip//dir", { kind: "zip", url: "file.zip", dir: "dir" }],
    ["/srv/x.zip", { kind: "zip", url: "/srv/x.zip", dir: "" }],
  ])("reads zip %j", (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  test.each<[string, StepReference]>([
    ["builtin://script", { kind: "dist", path: "script" }],
    ["dist://step/oci/fetch", { kind: "dist", path: "step/oci/fetch" }],
    ["builtin://a/x.yml", { kind: "dist", path: "a", file: "x.yml" }],
    ["${{ inputs.ref }}", { kind: "dynamic", text: "${{ inputs.ref }}" }],
    [" ./a/${{ inputs.ref }}\n", { kind: "dynamic", text: "./a/${{ inputs.ref }}" }],
    ["oci://${{ x }}", { kind: "dynamic", text: "oci://${{ x }}" }],
  ])("reads %j", (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  test.each<[string, StepReference]>([
    ["h.io/p", { kind: "oci", registry: "h.io", repository: "p", tag: "latest", dir: "" }],
    ["gitlab.com/g/p", { kind: "oci", registry: "gitlab.com", repository: "g/p", tag: "latest", dir: "" }],
    ["g/p/x", { kind: "oci", registry: "registry.gitlab.com", repository: "g/p/x", tag: "latest", dir: "" }],
    ["g/p:1.2", { kind: "oci", registry: "registry.gitlab.com", repository: "g/p", tag: "1.2", dir: "" }],
    ["localhost/p:v1", { kind: "oci", registry: "localhost", repository: "p", tag: "v1", dir: "" }],
    ["host:5000/x", { kind: "oci", registry: "host:5000", repository: "x", tag: "latest", dir: "" }],
    ["H.IO:5000/x:V1", { kind: "oci", registry: "h.io:5000", repository: "x", tag: "V1", dir: "" }],
    ["[::1]:5000/x", { kind: "oci", registry: "[::1]:5000", repository: "x", tag: "latest", dir: "" }],
    ["h.io/p:v1 a/b.yml", { kind: "oci", registry: "h.io", repository: "p", tag: "v1", dir: "a", file: "b.yml" }],
    ["h.io/p a/b c/", { kind: "oci", registry: "h.io", repository: "p", tag: "latest", dir: "a/b c" }],
    [
      "oci://h.io/p:v1 a@b/x.yml",
      { kind: "oci", registry: "h.io", repository: "p", tag: "v1", dir: "a@b", file: "x.yml" },
    ],
    [
      `h/i@sha256:${digest}`,
      { kind: "oci", registry: "registry.gitlab.com", repository: "h/i", tag: `sha256:${digest}`, dir: "" },
    ],
    [
      `h.io/i:v1@SHA256:${digest.toUpperCase()} x.yml`,
      { kind: "oci", registry: "h.io", repository: "i", tag: `sha256:${digest}`, dir: "", file: "x.yml" },
    ],
    [`oci://h/i:sha256:${digest}`, { kind: "oci", registry: "h", repository: "i", tag: `sha256:${digest}`, dir: "" }],
    ["oci://h/i:1", { kind: "oci", registry: "h", repository: "i", tag: "1", dir: "" }],
    ["OCI://h/i:1.zip", { kind: "oci", registry: "h", repository: "i", tag: "1.zip", dir: "" }],
    ["oci://h/i:1/-/a/b.yml", { kind: "oci", registry: "h", repository: "i", tag: "1", dir: "a", file: "b.yml" }],
    ["oci:ns/i:1 sub/", { kind: "oci", registry: "registry.gitlab.com", repository: "ns/i", tag: "1", dir: "sub" }],
  ])("reads OCI %j", (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  test.each([
    ["", "The reference is empty"],
    [" \n", "The reference is empty"],
    ["https://u@h/p", 'The reference names no revision: "https://h/p"'],
    ["https://u:secret@h/p", 'The reference names no revision: "https://h/p"'],
    ["u:secret@h/p", 'The reference names no revision: "h/p"'],
    ["h/p@", "The reference names an empty revision"],
    ["h/p@-f", 'The revision looks like an option: "-f"'],
    ["h/p@--upload-pack=x", 'The revision looks like an option: "--upload-pack=x"'],
    ["h/p@a..b", 'The revision is malformed: "a..b"'],
    ["h/p@a b", 'The revision is malformed: "a b"'],
    ["h/p@a^", 'The revision is malformed: "a^"'],
    ["h/p@x.lock", 'The revision is malformed: "x.lock"'],
    [`h/p@${"a".repeat(256)}`, `The revision is malformed: "${"a".repeat(80)}"`],
    ["-oProxyCommand=x/p@v1", 'The git URL looks like an option: "https://-oProxyCommand=x/p"'],
    ["-x/p@v1", 'The git URL looks like an option: "https://-x/p"'],
    ["ssh://-oProxyCommand@h/p@v1", 'The git URL looks like an option: "ssh://h/p"'],
    ["ssh://%2DoProxyCommand@h/p@v1", 'The git URL looks like an option: "ssh://h/p"'],
    ["git+ssh://-x/p@v1", 'The git URL looks like an option: "ssh://-x/p"'],
    ["ssh://%2Dx/p@v1", 'The git URL looks like an option: "ssh://%2Dx/p"'],
    ["https://h@v1", 'The reference names no revision: "https://v1"'],
    ["h@v1", 'The git URL names no repository: "https://h"'],
    ["https://h/@v1", 'The git URL names no repository: "https://h/"'],
    ["https://h/a%0ab@v1", "The git URL holds a control character"],
    ["h/p q@v1", "The git URL holds a space"],
    ["./a\u001b[31m", "The reference holds a control character"],
    ["./a\u009b31m", "The reference holds a control character"],
    ["h/p\u0000@v1", "The reference holds a control character"],
    ["h/p\n--x@v1", "The reference holds a control character"],
    ["ext::sh -c x/y@v1", "The git URL holds a space"],
    ["ext::sh/y@v1", "The git URL is malformed"],
    ["https:/h/p@v1", "The reference has a malformed scheme"],
    ["https:\\\\h\\p@v1", "The reference has a malformed scheme"],
    ["ftp://h/p@v1", 'The reference has an unknown scheme: "ftp://"'],
    ["ftp://h/p.zip", 'The zip reference has an unknown scheme: "ftp://"'],
    ["https://h/x.zip#sha256=abc", "The zip reference has a malformed digest"],
    ["https://h/x.zip//a/../b", 'The path leaves the component: "a/../b"'],
    ["h/p/-/../x@v1", 'The path leaves the component: "steps/../x"'],
    ["builtin://../x", 'The path leaves the component: "../x"'],
    ["builtin://", "The reference names no built-in step"],
    [
      "greet",
      'The reference "greet" names no revision for git, and as an image: the OCI reference names no registry, and registry.gitlab.com has no repository "greet"',
    ],
    [
      "h.io/Greet:1",
      'The reference "h.io/Greet:1" names no revision for git, and as an image: the repository of an image has no upper-case letters: "Greet"',
    ],
    [
      "h.io/../x",
      'The reference "h.io/../x" names no revision for git, and as an image: the repository of the image is malformed: "../x"',
    ],
    ["h.io/p.git", 'The reference names no revision: "h.io/p.git"'],
    ["oci://h/Greet", 'The repository of an image has no upper-case letters: "Greet"'],
    ["oci://h", 'The OCI reference names no registry, and registry.gitlab.com has no repository "h"'],
    ["oci://", "The OCI reference names no repository"],
    ["oci://h/", "The OCI reference names no repository"],
    ["oci:///p/q", 'The registry is malformed: ""'],
    ["oci://0x7f.1/p", 'The registry is malformed: "0x7f.1"'],
    ["oci://-h/p", 'The registry is malformed: "-h"'],
    ["oci://h:99999/p", 'The registry is malformed: "h:99999"'],
    ["oci://h/p:", 'The tag of the image is malformed: ""'],
    ["oci://h/p:-x", 'The tag of the image is malformed: "-x"'],
    ["oci://h/p:a/b", 'The repository of the image is malformed: "p:a/b"'],
    ["oci://h/a//b", 'The repository of the image is malformed: "a//b"'],
    ["oci://h/a..b", 'The repository of the image is malformed: "a..b"'],
    [`oci://h/p:${"a".repeat(129)}`, `The tag of the image is malformed: "${"a".repeat(80)}"`],
    [`oci://h/${"a".repeat(256)}`, `The name of the image is longer than 255 characters: "${"a".repeat(80)}"`],
    [
      `h/p@sha256:${digest.slice(2)}`,
      `The digest of the image must have 64 hex digits: "sha256:${digest.slice(0, 33)}…"`,
    ],
    [`h/p@md5:${digest.slice(32)}`, 'The digest of the image has an unknown algorithm: "md5"'],
    ["h/p@sha256:abc", 'The revision is malformed: "sha256:abc"'],
    ["oci://h/p@v1", 'The OCI reference has a malformed digest: "v1"'],
    ["oci://u:secret@h/p", "The OCI reference holds a user name"],
    ["oci://h/p ../x", 'The path leaves the component: "../x"'],
    [`./${"a".repeat(70_000)}`, "The reference is too long"],
  ])("refuses %j", (text, message) => {
    expect(messageFor(text)).toBe(message);
  });

  test("says how an scp-like address is written", () => {
    expect(parseReference("git@github.com:o/r.git@v1")).toEqual({
      message: "The git URL is malformed",
      hint: "An address like git@HOST:PATH is written ssh://git@HOST/PATH.",
    });
  });

  test.each([
    "https://user:s3cret/x@h/p",
    "https://user:s3cret@h",
    "user:s3cret@h",
    "user:s3cret@h/p",
    "https://u:s3cret#x@h/a.zip",
  ])("does not repeat the password of %j", (text) => {
    expect(JSON.stringify(parseReference(text))).not.toContain("s3cret");
  });
});

describe("formatReference()", () => {
  test.each<[StepReference, string]>([
    [{ kind: "git", url: "https://h/p", dir: "steps", version: "v1" }, "h/p@v1"],
    [{ kind: "git", url: "https://h/p", dir: "steps/a", file: "x.yml", version: "v1" }, "h/p/-/a/x.yml@v1"],
    [{ kind: "git", url: "http://h/p", dir: "steps", version: "v1" }, "http://h/p@v1"],
    [{ kind: "git", url: "https://h/p", dir: "", version: "v1" }, "git+https://h/p@v1"],
    [{ kind: "git", url: "https://h/p", dir: "stepsy", version: "v1" }, "git+https://h/p//stepsy@v1"],
    [{ kind: "git", url: "https://.h/p", dir: "steps", version: "v1" }, "git+https://.h/p//steps@v1"],
    [{ kind: "git", url: "https://h/a/-/b", dir: "steps", version: "v1" }, "git+https://h/a/-/b//steps@v1"],
    [{ kind: "git", url: "https://h/p", dir: "steps", version: "v1.zip" }, "git+https://h/p//steps@v1.zip"],
    [{ kind: "git", url: "https://u:t@h/p", dir: "steps/a", version: "v1" }, "h/p/-/a@v1"],
    [{ kind: "git", url: "https://u:t@h/p", dir: "", version: "v1" }, "git+https://h/p@v1"],
    [{ kind: "zip", url: "https://u:t@h/x.zip?sig=s", dir: "a" }, "https://h/x.zip?sig=[MASKED]//a"],
    [{ kind: "local", path: "/", file: "x.yml" }, "/x.yml"],
    [{ kind: "dist", path: "script" }, "builtin://script"],
    [{ kind: "oci", registry: "h", repository: "a/b", tag: "v1", dir: "" }, "oci://h/a/b:v1"],
    [
      { kind: "oci", registry: "h:1", repository: "a", tag: `sha256:${digest}`, dir: "x y", file: "z.yml" },
      `oci://h:1/a@sha256:${digest} x y/z.yml`,
    ],
    [
      {
        kind: "inline",
        specDefinition: { spec: { inputs: {}, outputs: {} }, definition: { type: "exec", command: ["a"], env: {} } },
        seesCallerInputs: false,
      },
      "(inline)",
    ],
  ])("writes %j as %j", (reference, text) => {
    expect(formatReference(reference)).toBe(text);
  });
});
