import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyWrittenReference } from "../../test/arbitrary.ts";
import { publicUrl } from "./public-url.ts";
import { formatReference, isReferenceProblem, parseReference } from "./reference.ts";
import { imageNameProblem } from "./oci-image.ts";
import { gitUrlProblem, versionProblem } from "./reference-problem.ts";

const fragments = fc.constantFrom(
  "https://", "git+https://", "ssh://", "file:///", "builtin://", "oci://", "://", "//", "/", "/-/", "@", "@v1", ".", "..", "./", "-",
  "--x", ".zip", "#sha256=", "#", "?", ":", ".yml", "%00", "%2d", "%", "[", "]", "\\", "\0", "\n", " ", "${{", "}}", "h", "gitlab.com",
); // prettier-ignore
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.oneof(fragments, fc.string({ maxLength: 4 })), { maxLength: 12 }).map((parts) => parts.join("")),
);

describe("references", () => {
  test("are read back from their text to the same reference, for every kind that has one", () => {
    fc.assert(
      fc.property(anyWrittenReference, (reference) => {
        expect(parseReference(formatReference(reference))).toEqual(reference);
      }),
      { numRuns: 1500 },
    );
  });

  test("never throw for hostile text, and what is read is safe and stays as it is", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const parsed = parseReference(text);
        if (isReferenceProblem(parsed)) {
          expect(parsed.message).toMatch(/^The /);
          return;
        }
        if (parsed.kind === "git") {
          expect(gitUrlProblem(parsed.url)).toBeUndefined();
          expect(versionProblem(parsed.version)).toBeUndefined();
          expect(new URL(parsed.url).hostname).not.toMatch(/^-/);
          expect(parsed.version).not.toMatch(/^-|\s/);
        }
        if (parsed.kind === "oci") {
          expect(imageNameProblem(parsed)).toBeUndefined();
          expect(new URL(`https://${parsed.registry}/`).host).not.toBe("");
        }
        if ("dir" in parsed) expect(parsed.dir.split("/")).not.toContain("..");
        if (parsed.kind !== "dynamic")
          expect(Object.values(parsed).join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        // A second reading changes nothing: formatting is stable.
        const again = parseReference(formatReference(parsed));
        if (!isReferenceProblem(again)) expect(formatReference(again)).toBe(formatReference(parsed));
      }),
      { numRuns: 3000 },
    );
  });

  test("never show the user name and the password of a URL", () => {
    const secret = fc.stringMatching(/^s3cr[a-zA-Z0-9._~!$&'()*+,;=:@%-]{0,8}3t$/);
    const form = fc.constantFrom<(userinfo: string) => string>(
      (it) => `https://${it}@h/p@v1`,
      (it) => `git+https://${it}@h/p//a@v1`,
      (it) => `ssh://${it}@h/p@v1`,
      (it) => `https://${it}@h/p.zip//a`,
      (it) => `user:${it}@h/p@v1`,
      (it) => `https://${it}@h/p`,
      (it) => `https:/${it}@h/p`,
      (it) => `https:\\\\${it}@h\\p`,
      (it) => `  https://${it}@h/p`,
      (it) => `oci://${it}@h/p`,
      (it) => `oci:${it}@h/p:v1`,
      (it) => `user:${it}@h/p:v1`,
      (it) => `oci://${it}@h/p@sha256:${"0".repeat(64)}`,
      (it) => `user:${it}@h/p@sha256:${"0".repeat(64)} a`,
      (it) => `https://h/p.zip?private_token=${encodeURIComponent(it)}`,
      (it) => `https://h/p.zip?a=b&X-Amz-Signature=${encodeURIComponent(it)}#x`,
    );
    fc.assert(
      fc.property(form, secret, fc.boolean(), (write, word, hasUser) => {
        const text = write(hasUser ? `user:${word}` : word);
        const parsed = parseReference(text);
        const shown = [publicUrl(text)];
        if (isReferenceProblem(parsed)) shown.push(parsed.message, parsed.hint ?? "");
        else shown.push(formatReference(parsed), "url" in parsed ? publicUrl(parsed.url) : "");
        expect(shown.join("\n")).not.toContain("s3cr");
      }),
      { numRuns: 1500 },
    );
  });
});

describe("publicUrl()", () => {
  test.each([
    ["https://h/@scope/p", "https://h/@scope/p"],
    ["https://u@h/p", "https://h/p"],
    ["https://u:p@w@h/p", "https://h/p"],
    ["git@h:o/r", "git@h:o/r"],
    ["u:p@h/p", "h/p"],
    ["https://h/p?access_token=x&b=c#d", "https://h/p?access_token=[MASKED]&b=c#d"],
    ["https://h/p?b=c&SIG=x", "https://h/p?b=c&SIG=[MASKED]"],
    ["/srv/a@b:c", "/srv/a@b:c"],
    ["", ""],
  ])("shows %j as %j", (url, shown) => {
    expect(publicUrl(url)).toBe(shown);
    expect(publicUrl(shown)).toBe(shown);
  });
});
