import { expandKeyword } from "../variables/expand-keyword.ts";

/** The names that texts of a job may refer to. */
export interface TextScope {
  /** The job's variables, expanded; a text refers to them and holds none of their values. */
  readonly values: Readonly<Record<string, string>>;
  /** The names of the job's `inputs`. */
  readonly inputs: ReadonlySet<string>;
}

/** A text that a shell reads, as an expression of steps: only what names inputs of the job is filled in. */
export function scriptTemplate(text: string, { inputs }: TextScope): string {
  return mapText(text, inputs, (part) => part);
}

/**
 * The value of a keyword, as an expression of steps: variables are filled in when the step runs, as GitLab's runner does it for
 * this keyword, so that no value stands in the definition.
 *
 * @param keyword - A key of `KEYWORD_EXPANSIONS`.
 */
export function keywordTemplate(keyword: string, text: string, { values, inputs }: TextScope): string {
  return mapText(text, inputs, (part) => {
    const pieces: string[] = [];
    // The values of variables are put aside, so that they are told from the words of the text.
    const expanded = expandKeyword(keyword, part, (name) => {
      if (!Object.hasOwn(values, name)) return undefined;
      return `\0${pieces.push(variableTemplate(name)) - 1}\0`;
    });
    return { expanded, pieces };
  });
}

/** The expression for a variable. In brackets, since a variable may have the name of an operator or of a literal. */
export function variableTemplate(name: string): string {
  return `\${{ vars[${escapeTemplate(JSON.stringify(name))}] }}`;
}

/** A text in which nothing is filled in. */
export function literalTemplate(text: string): string {
  return escapeTemplate(text);
}

/** The inputs of a compiled job that name the folders in which files are kept. */
export type StoreInput = "artifacts_dir" | "cache_dir";

/** The expression for the folder of a store, which is an input of the job. */
export function storeTemplate(input: StoreInput): string {
  return `\${{ inputs.${input} }}`;
}

type Part = string | { readonly expanded: string; readonly pieces: readonly string[] };

function mapText(text: string, inputs: ReadonlySet<string>, map: (part: string) => Part): string {
  const parts = inputs.size === 0 ? [text] : splitAtInputs(text);
  return parts.map((part, index) => (index % 2 === 1 ? part : finish(map(part)))).join("");
}

function finish(part: Part): string {
  if (typeof part === "string") return escapeTemplate(part);
  return escapeTemplate(part.expanded).replaceAll(/\0(\d+)\0/g, (_, index: string) => part.pieces[Number(index)] ?? "");
}

/**
 * The parts of a text: every second one is an expression that names inputs of the job. Any other `${{` is nothing to a job
 * (conformance section 6.3).
 */
export function splitAtInputs(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (let open = text.indexOf("${{"); open !== -1;) {
    const close = text.indexOf("}}", open);
    if (close === -1) break;
    const expression = text.slice(open, close + 2);
    if (inputsNamedIn(expression).length > 0) {
      parts.push(text.slice(from, open), expression);
      from = close + 2;
    }
    open = text.indexOf("${{", close);
  }
  return [...parts, text.slice(from)];
}

/** The names of the job's inputs that the expressions of a text ask for. */
export function inputsNamedIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{\{(?:(?!\}\}).)*?\bjob\.inputs\.([A-Za-z_][A-Za-z0-9_-]*)/gs)].map(
    ([, name = ""]) => name,
  );
}

function escapeTemplate(text: string): string {
  return text.replaceAll("${{", () => String.raw`\${{`);
}
