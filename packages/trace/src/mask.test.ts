import { describe, expect, test } from "vitest";
import { createMasker } from "./entries/mask.ts";

function maskerOf(...secrets: string[]): ReturnType<typeof createMasker> {
  const masker = createMasker();
  for (const secret of secrets) masker.add(secret);
  return masker;
}

/** Masks chunks as a stream, as text. */
function throughStream(masker: ReturnType<typeof createMasker>, chunks: readonly string[]): string {
  const stream = masker.stream();
  const parts = chunks.map((chunk) => Buffer.from(stream.push(Buffer.from(chunk))));
  return Buffer.concat([...parts, stream.end()]).toString();
}

const SECRET = `pa"ss<w>'o r&d/+é`;

describe("createMasker()", () => {
  test("masks the secrets that GitLab's runner misses when a prefix repeats across writes", () => {
    expect(throughStream(maskerOf("aabSECRET"), ["aa", "abSECRET"])).toBe("a[MASKED]");
    expect(throughStream(maskerOf("xyxyzTOKEN1"), ["xyx", "yxyzTOKEN1"])).toBe("xy[MASKED]");
  });

  test.each([
    ["base64", Buffer.from(SECRET).toString("base64")],
    ["base64 after one byte", Buffer.from(`:${SECRET}`).toString("base64")],
    ["base64 after two bytes", Buffer.from(`::${SECRET}`).toString("base64")],
    ["base64url", Buffer.from(SECRET).toString("base64url")],
    ["hex", Buffer.from(SECRET).toString("hex")],
    ["upper-case hex", Buffer.from(SECRET).toString("hex").toUpperCase()],
    ["percent of JavaScript", encodeURIComponent(SECRET)],
    ["percent of RFC 3986", encodeURIComponent(SECRET).replaceAll("'", "%27")],
    ["percent in lower case", encodeURIComponent(SECRET).replaceAll("'", "%27").toLowerCase()],
    ["percent of a form", new URLSearchParams([["", SECRET]]).toString().slice(1)],
    ["JSON", JSON.stringify(SECRET).slice(1, -1)],
    ["JSON with escaped slashes", JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/")],
    ["ASCII JSON", JSON.stringify(SECRET).slice(1, -1).replaceAll("é", "\\u00e9")],
    [
      "upper-case ASCII JSON with slashes",
      JSON.stringify(SECRET).slice(1, -1).replaceAll("é", "\\u00E9").replaceAll("/", "\\/"),
    ],
    ["JSON of Go", `pa\\"ss\\u003cw\\u003e'o r\\u0026d/+é`],
    ["JSON in JSON", JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
    ["XML", "pa\"ss&lt;w&gt;'o r&amp;d/+é"],
    ["XML attribute", "pa&quot;ss&lt;w&gt;&apos;o r&amp;d/+é"],
    ["HTML of Go", "pa&#34;ss&lt;w&gt;&#39;o r&amp;d/+é"],
    ["shell quotes", `pa"ss<w>'\\''o r&d/+é`],
    ["shell backslashes", `pa\\"ss\\<w\\>\\'o\\ r\\&d/+\\é`],
    ["shell double quotes", `pa\\"ss<w>'o r&d/+é`],
    ["PowerShell", `pa"ss<w>''o r&d/+é`],
  ])("masks a secret in %s", (_, encoded) => {
    const masker = maskerOf(SECRET);
    const masked = masker.text(`x ${encoded} y`);
    expect(masked).toMatch(/^x .{0,3}\[MASKED\].{0,4} y$/);
    expect(throughStream(masker, ["x ", encoded, " y"])).toBe(masked);
  });

  test("masks each line of a secret, and each string of a secret in JSON", () => {
    expect(maskerOf("first-line-1\r\n  second-line-2\n").text("a first-line-1 b second-line-2")).toBe(
      "a [MASKED] b [MASKED]",
    );
    const masker = maskerOf(JSON.stringify({ type: "main", list: [{ key: "leaf-of-json" }] }));
    expect(masker.text("the leaf-of-json on main")).toBe("the [MASKED] on main");
  });

  test("masks long base64 also where it is wrapped", () => {
    const secret = "a secret that is long enough for base64 to be wrapped by its writer";
    const encoded = Buffer.from(secret).toString("base64");
    const wrapped = `${encoded.slice(0, 30)}\r\n${encoded.slice(30, 60)}\n${encoded.slice(60)}`;
    const masker = maskerOf(secret);
    expect(masker.text(`<${wrapped}>`)).toMatch(/^<\[MASKED\].{0,4}>$/);
    expect(throughStream(masker, Array.from(`<${wrapped}>`))).toBe(masker.text(`<${wrapped}>`));
    expect(throughStream(masker, [encoded.slice(0, 30), "\n".repeat(100), "."])).toBe(
      `${encoded.slice(0, 30)}${"\n".repeat(100)}.`,
    );
  });

  test("does not hold back an endless run of line breaks", () => {
    const secret = "a secret that is long enough for base64 to be wrapped by its writer";
    const stream = maskerOf(secret).stream();
    const head = Buffer.from(secret).toString("base64").slice(0, 30);
    let released = Buffer.from(stream.push(Buffer.from(head))).length;
    for (let i = 0; i < 1000; i++) released += stream.push(Buffer.from("\n")).length;
    expect(released).toBe(1030);
  });

  test("takes 5 to 7 bytes literally, refuses 4 and common words, and counts what it refuses", () => {
    const masker = maskerOf("12345", "1234", "1234", "", "true", "MASTER", " ab ");
    expect(masker.text("12345 1234 true master MTIzNDU=")).toBe("[MASKED] 1234 true master MTIzNDU=");
    expect(masker.unmaskable).toBe(4);
  });

  test("merges hits that overlap and keeps neighbours apart", () => {
    expect(maskerOf("abcdef", "efghij").text("abcdefghij abcdefefghij")).toBe("[MASKED] [MASKED][MASKED]");
    expect(maskerOf("secret", "secret-longer").text("a secret-longer secret")).toBe("a [MASKED] [MASKED]");
  });

  test("passes chunks through untouched while it is empty, and when nothing in them may begin a secret", () => {
    const masker = createMasker();
    const stream = masker.stream();
    const chunk = Buffer.from("hello");
    expect(masker.isEmpty).toBe(true);
    expect(stream.push(chunk)).toBe(chunk);
    expect(masker.bytes(chunk)).toBe(chunk);
    masker.add("secret-1");
    expect(stream.push(chunk)).toBe(chunk);
    expect(masker.isEmpty).toBe(false);
  });

  test("holds back exactly what may begin a secret, without keeping the caller's buffer", () => {
    const stream = maskerOf("secret-1").stream();
    const chunk = Buffer.from("xx secr");
    expect(Buffer.from(stream.push(chunk)).toString()).toBe("xx ");
    chunk.fill("!");
    expect(Buffer.from(stream.push(Buffer.from("et-2"))).toString()).toBe("secret-2");
    expect(Buffer.from(stream.push(Buffer.from("et-1secret"))).toString()).toBe("et-1");
    expect(Buffer.from(stream.end()).toString()).toBe("secret");
  });

  test("picks up a secret that is added while a stream is open, also where it has begun", () => {
    const masker = maskerOf("secret-1");
    const stream = masker.stream();
    expect(Buffer.from(stream.push(Buffer.from("a second secret"))).toString()).toBe("a second ");
    masker.add("secret-22");
    expect(Buffer.from(stream.push(Buffer.from("-22 b"))).toString()).toBe("[MASKED] b");
  });

  test("masks bytes that are no text", () => {
    const masker = maskerOf("sécret-1");
    const bytes = Buffer.concat([Buffer.from([0xff, 0xc3]), Buffer.from("sécret-1"), Buffer.from([0])]);
    expect([...masker.bytes(bytes)]).toEqual([0xff, 0xc3, ...Buffer.from("[MASKED]"), 0]);
  });

  test("stays usable with many secrets added one by one, and with one that is huge", () => {
    const masker = createMasker();
    for (let i = 0; i < 300; i++) {
      masker.add(`token-number-${i}-${"x".repeat(i % 7)}`);
      expect(masker.text(`<token-number-${i}-${"x".repeat(i % 7)}>`)).toBe("<[MASKED]>");
    }
    masker.add("h".repeat(900_000));
    expect(masker.text("h".repeat(900_000))).toBe("[MASKED]");
    const huge = Array.from({ length: 200_000 }, (_, i) => `${i}${"j".repeat(i % 20)}`).join("-");
    masker.add(huge);
    expect(masker.text(`<${huge}>`)).toBe("<[MASKED]>");
    expect(throughStream(masker, ["<", huge.slice(0, 777_777), huge.slice(777_777), ">"])).toBe("<[MASKED]>");
    expect(masker.unmaskable).toBe(0);
  });

  test("masks each secret and each of its lines, however many came before", () => {
    const masker = createMasker();
    const lines = (secret: number): string[] =>
      Array.from({ length: 200 }, (_, line) => `line ${line} of secret ${secret}: ${"v".repeat(line % 70)}`);
    for (let secret = 0; secret < 10; secret++) masker.add(lines(secret).join("\n"));
    for (let i = 0; i < 20_000; i++) masker.add(`mask-of-an-action-${i}`, "step");
    expect(masker.partlyEncoded).toBeGreaterThan(0);
    masker.add("the-last-secret-of-all");
    const shown = `the-last-secret-of-all ${lines(9)[199]} ${lines(3)[150]} mask-of-an-action-19999`;
    expect(masker.text(shown)).toBe("[MASKED] [MASKED] [MASKED] [MASKED]");
    expect(throughStream(masker, Array.from(shown))).toBe("[MASKED] [MASKED] [MASKED] [MASKED]");
    // A secret that a step made known takes no room from the job's own.
    expect(masker.text(Buffer.from("the-last-secret-of-all").toString("base64"))).toMatch(/^\[MASKED\].{0,4}$/);
  });

  test("shows nothing any more once a secret cannot be masked", () => {
    const masker = createMasker();
    const stream = masker.stream();
    stream.push(Buffer.from("fine"));
    const large = "0123456789abcdef".repeat(1024 * 1024);
    expect(() => {
      for (let i = 0; i < 9; i++) masker.add(`${i}${large}`);
    }).toThrow(expect.objectContaining({ code: "SECRETS_TOO_LARGE" }));
    expect(masker.text("anything")).toBe("[MASKED]");
    expect(masker.bytes(Buffer.from("anything")).toString()).toBe("[MASKED]");
    expect(Buffer.concat([stream.push(Buffer.from("anything")), stream.end()]).toString()).toBe("");
  });

  test("masks forms of a secret as they are, so that many secrets of many lines fit in", () => {
    const masker = createMasker();
    masker.addForm("form-of-a-secret");
    masker.addForm("abcd");
    expect(masker.isEmpty).toBe(false);
    expect(masker.unmaskable).toBe(0);
    const encoded = Buffer.from("form-of-a-secret").toString("base64");
    expect(masker.text(`form-of-a-secret ${encoded} abcd`)).toBe(`[MASKED] ${encoded} abcd`);
  });
});
