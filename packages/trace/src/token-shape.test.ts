import { describe, expect, test } from "vitest";
import { createMasker } from "./entries/mask.ts";

function masked(text: string, ...secrets: string[]): string {
  const masker = createMasker({ masksTokens: true });
  for (const secret of secrets) masker.add(secret);
  return masker.text(text);
}

/** The chunks that come out, for the chunks that go in. */
function pushed(chunks: readonly string[], ...secrets: string[]): string[] {
  const masker = createMasker({ masksTokens: true });
  for (const secret of secrets) masker.add(secret);
  const stream = masker.stream();
  const out = chunks.map((chunk) => Buffer.from(stream.push(Buffer.from(chunk))).toString());
  return [...out, Buffer.from(stream.end()).toString()];
}

describe("tokens by their shape", () => {
  test.each([
    ["a glpat-Ab0_-.= b", "a glpat-[MASKED] b"],
    ["xglpat-abc", "xglpat-[MASKED]"],
    ["glpat-aglpat-b c", "glpat-[MASKED] c"],
    ["glpat- glpat-\nglpat-", "glpat- glpat-\nglpat-"],
    ["glpat-[MASKED]", "glpat-[MASKED]"],
    ["glpaglpat-x", "glpaglpat-[MASKED]"],
    ["gglpat-x,glrt-y,glrtr-z", "gglpat-[MASKED],glrt-[MASKED],glrtr-[MASKED]"],
    ["Cookie: _gitlab_session=0f1; x", "Cookie: _gitlab_session=[MASKED]; x"],
    ["__gitlab_gitlab_session=_gitlab_session=a", "__gitlab_gitlab_session=[MASKED]"],
    ["glxx-abc GLPAT-abc global-x gl-", "glxx-abc GLPAT-abc global-x gl-"],
    ["glpat-é glpat-aé", "glpat-é glpat-[MASKED]é"],
  ])("%j becomes %j, however it is cut", (text, expected) => {
    expect(masked(text)).toBe(expected);
    expect(pushed(Array.from(text)).join("")).toBe(expected);
  });

  test("knows every prefix of GitLab's runner and those that came later", () => {
    const names = "pat oas dt rt rtr cbt ptt ft imt agent soat ffct wt tok".split(" ");
    for (const name of names) expect(masked(`gl${name}-x`)).toBe(`gl${name}-[MASKED]`);
  });

  test("is off unless it is asked for", () => {
    expect(createMasker().text("glpat-abc")).toBe("glpat-abc");
    const chunk = Buffer.from("glpat-abc");
    expect(createMasker().stream().push(chunk)).toBe(chunk);
  });

  test("holds nothing back and keeps the borders of writes, also within a prefix and a token", () => {
    expect(pushed(["x glp", "at-", "ab", "", "cd e", "f"])).toEqual(["x glp", "at-", "[MASKED]", "", " e", "f", ""]);
    const chunk = Buffer.from("nothing here but a glint of gl and _gitlab_");
    expect(createMasker({ masksTokens: true }).stream().push(chunk)).toBe(chunk);
  });

  test("masks a token without an end to its end, in bounded memory", () => {
    const stream = createMasker({ masksTokens: true }).stream();
    stream.push(Buffer.from("glpat-"));
    const piece = Buffer.alloc(65_536, "a");
    expect(Buffer.from(stream.push(piece)).toString()).toBe("[MASKED]");
    for (let i = 0; i < 100; i++) expect(stream.push(piece)).toHaveLength(0);
    expect(Buffer.from(stream.push(Buffer.from("a b"))).toString()).toBe(" b");
  });

  test("leaves one mark where tokens and secrets overlap", () => {
    expect(masked("glpat-abcdef!", "glpat-abc")).toBe("[MASKED]!");
    expect(masked("glpat-abcdef!ghi", "def!ghi")).toBe("glpat-[MASKED]");
    expect(masked("123456glpat-ab", "123456gl")).toBe("[MASKED]pat-[MASKED]");
    expect(pushed(["glpat-ab", "cde", "f"], "abcdefgh").join("")).toBe("glpat-[MASKED]");
    expect(pushed(["glpat-abcd", "ef", "!ghi."], "def!ghi").join("")).toBe("glpat-[MASKED].");
  });

  test("keeps what was found when a secret is added in the middle", () => {
    const masker = createMasker({ masksTokens: true });
    masker.add("abcdefgh");
    const stream = masker.stream();
    const first = Buffer.from(stream.push(Buffer.from("glpat-abc"))).toString();
    masker.add("another-secret");
    const rest = [stream.push(Buffer.from("d e")), stream.end()].map((part) => Buffer.from(part).toString());
    expect(first + rest.join("")).toBe("glpat-[MASKED] e");
  });
});

describe("tokens with further prefixes", () => {
  const prefixes = ["acme-", "a-acme-", "my tok:", "tok:", "glpat-", "a+(b*", ""];
  const create = (): ReturnType<typeof createMasker> => createMasker({ masksTokens: true, tokenPrefixes: prefixes });

  test.each([
    ["acme-Ab0_-.= b", "acme-[MASKED] b"],
    ["glpat-a,glrt-b,_gitlab_session=c", "glpat-[MASKED],glrt-[MASKED],_gitlab_session=[MASKED]"],
    ["a-acme-x acme- acme", "a-acme-[MASKED] acme- acme"],
    ["my tok:abc tok:é", "my tok:[MASKED] tok:é"],
    ["glpat-xtok:abc", "glpat-[MASKED]:[MASKED]"],
    ["acme-acme-acme-", "acme-[MASKED]"],
    ["a+(b*x aab ab", "a+(b*[MASKED] aab ab"],
    ["é acme-x", "é acme-[MASKED]"],
    ["ACME-abc", "ACME-abc"],
  ])("%j becomes %j, however it is cut", (text, expected) => {
    expect(create().text(text)).toBe(expected);
    expect(Buffer.from(create().bytes(Buffer.from(text))).toString()).toBe(expected);
    const stream = create().stream();
    const out = Array.from(text, (char) => Buffer.from(stream.push(Buffer.from(char))).toString());
    expect(out.join("") + Buffer.from(stream.end()).toString()).toBe(expected);
  });

  test("leave the borders of writes, and a chunk without a token as it is", () => {
    const stream = create().stream();
    const out = ["x ac", "me-", "ab", "cd e"].map((part) => Buffer.from(stream.push(Buffer.from(part))).toString());
    expect(out).toEqual(["x ac", "me-", "[MASKED]", " e"]);
    const chunk = Buffer.from("nothing here but an acme of acm");
    expect(create().stream().push(chunk)).toBe(chunk);
  });
});
