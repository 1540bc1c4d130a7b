/** A form that a common tool writes the variable `SECRET` in. */
export interface Encoding {
  readonly name: string;
  /** The program that runs the code: bash and the tool that it calls, or the interpreter of the code. */
  readonly program: string;
  /** For Python and Node the code has the secret as `s` and its bytes as `b`. */
  readonly code: string;
  /** Forms that are not promised to be known are counted, and are no failure. */
  readonly isPromised: boolean;
  /** The number of characters in a row that count as a leak. Default: 12. */
  readonly leak?: number;
}

const of = (name: string, program: string, code: string, isPromised = true): Encoding => ({
  name,
  program,
  code,
  isPromised,
});
/** Rows of bytes: of each up to three bytes may stay at the ends, each of which takes three or four characters. */
const rows = (name: string, program: string, code: string): Encoding => ({ ...of(name, program, code), leak: 20 });
const python = (name: string, code: string, isPromised = true): Encoding =>
  of(`python ${name}`, "python3", `print(${code})`, isPromised);
const node = (name: string, code: string, isPromised = true): Encoding =>
  of(`node ${name}`, "node", `console.log(${code})`, isPromised);

export const ENCODINGS: readonly Encoding[] = [
  of("printf", "bash", `printf '%s\\n' "$SECRET"`),
  of("base64", "base64", `printf %s "$SECRET" | base64`),
  of("base64 -w0", "base64", `printf %s "$SECRET" | base64 -w0; echo`),
  of("base64 -w64", "base64", `printf %s "$SECRET" | base64 -w64`),
  of("base64 -w20", "base64", `printf %s "$SECRET" | base64 -w20`, false),
  of("base64 of user:secret", "base64", `printf 'user:%s' "$SECRET" | base64 -w0; echo`),
  of("base64 of secret and line feed", "base64", `printf 'ab%s\\n' "$SECRET" | base64`),
  of("openssl base64", "openssl", `printf %s "$SECRET" | openssl base64`),
  of("openssl enc -A", "openssl", `printf %s "$SECRET" | openssl enc -base64 -A; echo`),
  of("xxd -p", "xxd", `printf %s "$SECRET" | xxd -p`),
  of("xxd -p -c 256", "xxd", `printf %s "$SECRET" | xxd -p -c 256`),
  of("xxd -u -p", "xxd", `printf %s "$SECRET" | xxd -u -p`),
  rows("od -An -tx1", "od", `printf %s "$SECRET" | od -An -tx1`),
  of("od -An -v -tx1 | tr -d ' \\n'", "od", `printf %s "$SECRET" | od -An -v -tx1 | tr -d ' \\n'; echo`),
  rows("od -tx1", "od", `printf %s "$SECRET" | od -tx1`),
  rows("od -c", "od", `printf %s "$SECRET" | od -An -c`),
  of("hexdump -C", "hexdump", `printf %s "$SECRET" | hexdump -C`, false),
  of("bash printf %q", "bash", `printf '%q\\n' "$SECRET"`),
  of("bash @Q", "bash", `echo "\${SECRET@Q}"`),
  of("bash @A", "bash", `echo "\${SECRET@A}"`),
  of("bash declare -p", "bash", `declare -p SECRET`),
  of("bash set -x", "bash", `set -x; : "$SECRET"`),
  of("bash export -p", "bash", `export -p | grep -A9 SECRET`),
  of("dash set", "dash", `dash -c 'set' | grep -A9 SECRET`),
  of("env", "env", `env | grep -A9 ^SECRET`),
  of("printf %q under C", "bash", `LC_ALL=C bash -c 'printf "%q\\n" "$SECRET"'`),
  of("jq", "jq", `jq -n 'env.SECRET'`),
  of("jq -a", "jq", `jq -a -n 'env.SECRET'`),
  of("jq @sh", "jq", `jq -r -n 'env.SECRET|@sh'`),
  of("jq @uri", "jq", `jq -r -n 'env.SECRET|@uri'`),
  of("jq @html", "jq", `jq -r -n 'env.SECRET|@html'`),
  of("jq @base64", "jq", `jq -r -n 'env.SECRET|@base64'`),
  python("quote", "urllib.parse.quote(s)"),
  python("quote all", 'urllib.parse.quote(s,safe="")'),
  python("quote_plus", "urllib.parse.quote_plus(s)"),
  python("urlencode", 'urllib.parse.urlencode({"a":s})'),
  python("repr", "repr(s)"),
  python("repr of bytes", "repr(b)"),
  python("ascii", "ascii(s)"),
  python("repr in a list", "[s]"),
  python("json.dumps", "json.dumps(s)"),
  python("json.dumps utf-8", "json.dumps(s,ensure_ascii=False)"),
  python("json.dumps twice", "json.dumps(json.dumps(s))"),
  python("html.escape", "html.escape(s)"),
  python("xml quoteattr", "xml.sax.saxutils.quoteattr(s)", false),
  python("shlex.quote", "shlex.quote(s)"),
  python("b64encode", "base64.b64encode(b).decode()"),
  python("urlsafe_b64encode", "base64.urlsafe_b64encode(b).decode()"),
  python("encodebytes", "base64.encodebytes(b).decode()"),
  python("hexlify", "binascii.hexlify(b).decode()"),
  python("hexlify with colons", 'binascii.hexlify(b,":").decode()', false),
  python("b32encode", "base64.b32encode(b).decode()", false),
  python("reversed", "s[::-1]", false),
  node("encodeURIComponent", "encodeURIComponent(s)"),
  node("encodeURI", "encodeURI(s)"),
  node("URLSearchParams", "String(new URLSearchParams({a:s}))"),
  node("querystring", 'require("querystring").escape(s)'),
  node("new URL", 'new URL("http://x/?a="+encodeURIComponent(s)).href'),
  node("JSON.stringify", "JSON.stringify({a:s})"),
  node("JSON.stringify lines", "JSON.stringify(s.split(String.fromCharCode(10)))"),
  node("JSON.stringify twice", "JSON.stringify(JSON.stringify(s))"),
  node("inspect", "{a:s}"),
  node("inspect of a list", "[s]"),
  node("hex", 'b.toString("hex")'),
  node("HEX", 'b.toString("hex").toUpperCase()'),
  node("base64", 'b.toString("base64")'),
  node("base64url", 'b.toString("base64url")'),
  node("escape", "escape(s)", false),
  node("inspect of bytes", "b", false),
];

const PYTHON = `import os,json,html,base64,binascii,shlex,urllib.parse,xml.sax.saxutils
s=os.environ["SECRET"]; b=s.encode()`;
const NODE = `const s=process.env.SECRET,b=Buffer.from(s);`;

/** A script for bash that writes `=== N` and then the Nth form, for all of them. */
export function scriptFor(encodings: readonly Encoding[]): string {
  const all = encodings.map((encoding, index) => ({ ...encoding, head: `=== ${index}` }));
  const ofProgram = (program: string): typeof all => all.filter((encoding) => encoding.program === program);
  const shell = all.filter(({ program }) => program !== "python3" && program !== "node");
  const lines = shell.map(({ head, code }) => `echo "${head}"; ( ${code} ) 2>&1 || true`);
  const python = ofProgram("python3").map(({ head, code }) => `print("${head}"); ${code}`);
  if (python.length > 0) lines.push(`python3 - <<'END'\n${PYTHON}\n${python.join("\n")}\nEND`);
  const node = ofProgram("node").map(({ head, code }) => `console.log("${head}"); ${code};`);
  if (node.length > 0) lines.push(`node - <<'END'\n${NODE}\n${node.join("\n")}\nEND`);
  return `set +e\n${lines.join("\n")}\n`;
}

/** Returns the texts that such a script printed, by the number of the form. */
export function readForms(printed: string): ReadonlyMap<number, string> {
  const [, ...parts] = printed.split(/=== (\d+)\n/);
  return new Map(parts.flatMap((part, at) => (at % 2 === 0 ? [[Number(part), parts[at + 1] ?? ""] as const] : [])));
}
