/** A command of a `console` block with the output that the page shows below it. */
interface Call {
  readonly command: string;
  readonly output: string;
}

interface At {
  /** The line of the opening fence, from 1. */
  readonly line: number;
}

/** A block of a guide, and the use that the test makes of it. */
export type Block = At &
  (
    | { readonly kind: "file"; readonly path: string; readonly text: string }
    | { readonly kind: "commands"; readonly text: string }
    | { readonly kind: "session"; readonly calls: readonly Call[] }
    /** A comment above the block says why it is not run. */
    | { readonly kind: "not run"; readonly reason: string }
    /** Text without a use, which no guide has: it would say what nobody compares. */
    | { readonly kind: "shown"; readonly language: string }
  );

const FENCE = /^```(\w*)$/;
const NOT_RUN = /^<!-- not run: (.+) -->$/;
const FILE_NAME = /`([\w./-]+)`:$/;

/**
 * The fenced blocks of a Markdown text, in order. `sh` blocks are commands, `console` blocks are commands behind `$ ` with their
 * output, and a block below a line that ends in a path and a colon (`steps.yml`:) is that file.
 */
export function readPage(markdown: string): readonly Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let above = "";
  for (let at = 0; at < lines.length; at += 1) {
    const language = FENCE.exec(lines[at] as string)?.[1];
    if (language === undefined) {
      if (lines[at] !== "") above = lines[at] as string;
      continue;
    }
    const end = lines.indexOf("```", at + 1);
    if (end === -1) throw new Error(`The block of line ${at + 1} has no end`);
    blocks.push({ line: at + 1, ...blockOf(language, above, lines.slice(at + 1, end)) });
    above = "";
    at = end;
  }
  return blocks;
}

type WithoutPlace<T> = T extends At ? Omit<T, "line"> : never;

function blockOf(language: string, above: string, lines: readonly string[]): WithoutPlace<Block> {
  const reason = NOT_RUN.exec(above)?.[1];
  if (reason !== undefined) return { kind: "not run", reason };
  if (language === "sh") return { kind: "commands", text: lines.join("\n") };
  if (language === "console") return { kind: "session", calls: readCalls(lines) };
  const path = FILE_NAME.exec(above)?.[1];
  if (path !== undefined) return { kind: "file", path, text: lines.join("\n") };
  return { kind: "shown", language };
}

function readCalls(lines: readonly string[]): readonly Call[] {
  const calls: { command: string; output: string[] }[] = [];
  let isCommand = false;
  for (const line of lines) {
    const call = calls.at(-1);
    if (line.startsWith("$ ")) calls.push({ command: line.slice(2), output: [] });
    else if (call === undefined) throw new Error(`A session begins with a command, not with "${line}"`);
    else if (isCommand) call.command += `\n${line}`;
    else call.output.push(line);
    isCommand = (line.startsWith("$ ") || isCommand) && line.endsWith("\\");
  }
  return calls.map(({ command, output }) => ({ command, output: output.join("\n") }));
}

/** The page with the outputs of its sessions replaced, call by call in the order of the page. */
export function withOutputs(markdown: string, outputs: readonly string[]): string {
  const left = [...outputs];
  return markdown.replaceAll(
    /(^<!-- not run: .+ -->\n)?^```console\n([^]*?)^```$/gm,
    (block, skipped, text: string) => {
      if (skipped !== undefined) return block;
      const calls = readCalls(text.replace(/\n$/, "").split("\n"));
      if (left.slice(0, calls.length).some((output) => /^\$ /m.test(output)))
        throw new Error(`Lines that begin with "$ " would be commands: write … for them, below ${calls[0]?.command}`);
      const shown = calls.flatMap(({ command }) => [`$ ${command}`, left.shift() ?? ""]).filter((part) => part !== "");
      return `\`\`\`console\n${shown.join("\n")}\n\`\`\``;
    },
  );
}
