import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/** A program for browsers in one file. */
export interface BrowserBundle {
  readonly code: string;
  /** The size of the minified code in bytes, compressed by gzip at its highest level. */
  readonly gzipBytes: number;
  /** The warnings of the bundler, such as one about an import of a Node module. */
  readonly warnings: readonly string[];
  /** Modules that are still imported. */
  readonly imports: readonly string[];
}

/** Bundles a module as a bundler for browsers does without any setting, with the packages that are installed in its folder. */
export async function bundleForBrowser(dir: string, name: string, code: string): Promise<BrowserBundle> {
  const input = join(dir, `${name}.mjs`);
  writeFileSync(input, code);
  const warnings: string[] = [];
  const build = await rolldown({ input, platform: "browser", onLog: (_level, log) => warnings.push(log.message) });
  try {
    const { output } = await build.generate({ format: "iife", name: "bundle", minify: true });
    const [chunk] = output;
    const gzipBytes = gzipSync(chunk.code, { level: 9 }).length;
    return { code: chunk.code, gzipBytes, warnings, imports: [...chunk.imports, ...chunk.dynamicImports] };
  } finally {
    await build.close();
  }
}

/** Runs a bundle where nothing of Node is, only what every browser has and what the language has, and gives `bundle.result`. */
export function runAsInBrowser({ code }: BrowserBundle): unknown {
  const context = createContext({ TextDecoder, TextEncoder, URL, URLSearchParams });
  return JSON.parse(runInContext(`${code};JSON.stringify(bundle.result)`, context) as string);
}
