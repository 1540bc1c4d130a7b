import type { Source } from "@steps/model/diagnostic";

const MAX_KNOWN = 64;
/** Longer texts are compiled again: they would hold more memory than they are worth. */
const MAX_LENGTH = 64 * 1024;

/**
 * Remembers the last texts of step files or actions that this process compiled, by their content: the jobs of a service and of a
 * pipeline share their components.
 */
export class CompiledTexts<Compiled> {
  readonly #known = new Map<string, Compiled>();

  /** Returns what a text was compiled to. @param variant the options that it is compiled with, as a text */
  compile({ name, text, malformed }: Source, variant: string, compile: () => Compiled): Compiled {
    if (malformed !== undefined || text.length > MAX_LENGTH) return compile();
    const key = `${variant}\0${name}\0${text}`;
    let compiled = this.#known.get(key);
    if (compiled === undefined) {
      compiled = compile();
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(key, compiled);
    }
    return compiled;
  }
}
