import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasProgram } from "@steps/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type BrowserBundle, bundleForBrowser } from "./bundle-for-browser.ts";
import { root } from "./workspace.ts";

/** The most bytes that a page which uses one of the packages loads of it, minified and compressed. */
const MAX_GZIP_BYTES = 75_000;
const ENTRIES = ["@steps/compiler", "@steps/expression", "@steps/expression/names"];

// The packages are bundled as they are built, with no setting for the bundler.
const folder = mkdtempSync(join(tmpdir(), "steps-chromium-"));
const modules = join(folder, "node_modules", "@steps");
mkdirSync(modules, { recursive: true });
for (const name of ["compiler", "expression"]) symlinkSync(join(root, "packages", name), join(modules, name));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A case of the corpus: a text that is compiled, or a template with its context. */
interface CorpusCase {
  readonly name: string;
  readonly kind: string;
  readonly as?: string;
  readonly input?: string;
  readonly template?: string;
  readonly context?: unknown;
  readonly expect: {
    readonly baseline?: unknown;
    readonly diagnostics?: readonly { readonly code: string }[];
    readonly value?: unknown;
    readonly error?: { readonly code: string };
  };
}

const PAGE = `
  import { compileInput, compileStepFile, compileStepList, encodeSpecDefinition } from "@steps/compiler";
  import { createScope, expand } from "@steps/expression";
  const compilers = { "step-file": compileStepFile, list: compileStepList, input: compileInput };
  function compile({ as, input }) {
    const { specDefinition, diagnostics } = compilers[as]({ name: "input.yml", text: input });
    return { baseline: specDefinition && encodeSpecDefinition(specDefinition), diagnostics: diagnostics.map(({ code }) => ({ code })) };
  }
  function evaluate({ template, context = {} }) {
    try {
      return { value: expand(template, createScope(context)) };
    } catch (error) {
      return { error: { code: error.code } };
    }
  }
  export const runCases = (cases) => cases.map((one) => (one.kind === "compile" ? compile(one) : evaluate(one)));`;

function readCorpus(): readonly CorpusCase[] {
  return ["compile", "expression"].flatMap((kind) => {
    const dir = join(root, "conformance", "cases", kind);
    const files = readdirSync(dir).map((file) => parse(readFileSync(join(dir, file), "utf8")) as readonly CorpusCase[]);
    return files.flat().filter((one) => one.kind === kind);
  });
}

/** The expectations of a case, as far as the page tells them. */
function expectedOf({ kind, expect: { baseline, diagnostics = [], value, error } }: CorpusCase): unknown {
  if (kind === "compile") return { baseline, diagnostics: diagnostics.map(({ code }) => ({ code })) };
  return error === undefined ? { value } : { error: { code: error.code } };
}

/** Opens a page with the bundle in Chromium, and gives what it makes of the cases. */
async function runInChromium({ code }: BrowserBundle, cases: readonly CorpusCase[]): Promise<unknown> {
  const page = join(folder, "page.html");
  writeFileSync(join(folder, "bundle.js"), code);
  writeFileSync(join(folder, "cases.js"), `const cases = ${JSON.stringify(cases)};`);
  // The page answers in characters that no markup changes.
  const script = `
    const bytes = new TextEncoder().encode(JSON.stringify(bundle.runCases(cases)));
    document.body.textContent = "<<" + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) + ">>";`;
  const scripts = `<script src="bundle.js"></script><script src="cases.js"></script><script>${script}</script>`;
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><body>${scripts}</body>`);
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
  const { stdout } = await promisify(execFile)(
    "chromium",
    [...args, `--user-data-dir=${join(folder, "profile")}`, "--dump-dom", `file://${page}`],
    { maxBuffer: 64 * 1024 * 1024, timeout: 150_000 },
  );
  const said = /&lt;&lt;([\w+/=]*)&gt;&gt;/.exec(stdout)?.[1];
  if (said === undefined) throw new Error(`The page says nothing:\n${stdout.slice(-2000)}`);
  return JSON.parse(Buffer.from(said, "base64").toString());
}

describe("in a browser", () => {
  test.each(ENTRIES)("%s is small, with everything that it exports", async (name) => {
    const { gzipBytes, warnings, imports } = await bundleForBrowser(folder, "whole", `export * from "${name}";`);
    expect([warnings, imports]).toEqual([[], []]);
    expect(gzipBytes).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  });

  test.skipIf(!hasProgram("chromium"))(
    "Chromium compiles and evaluates what the corpus has for it",
    async () => {
      const cases = readCorpus();
      expect(cases.length).toBeGreaterThan(200);
      const bundle = await bundleForBrowser(folder, "page", PAGE);
      const found = await runInChromium(bundle, cases);
      const named = (results: readonly unknown[]) => cases.map(({ name }, i) => [name, results[i]]);
      expect(named(found as readonly unknown[])).toEqual(named(cases.map(expectedOf)));
    },
    180_000,
  );
});
