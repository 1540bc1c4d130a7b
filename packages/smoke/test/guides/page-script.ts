import type { Block } from "./read-page.ts";

/** Stands around what the script says to the test; no program prints it. */
const MARK = "\u001E";

const BEGINNING = `
tell() { printf '\\036%s\\036' "$*"; }
give() { return "$1"; }
leave() { tell "left $?"; exec >/dev/null 2>&1; for job in $(jobs -p); do kill "$job"; done; wait; }
trap leave EXIT
code=0
cd "$HOME"
`;

/**
 * A script for bash that does what a reader of the page would do, in one shell, and tells where the output of each call begins and
 * ends.
 */
export function pageScript(blocks: readonly Block[]): string {
  return BEGINNING + blocks.map(scriptOf).join("");
}

function scriptOf(block: Block, index: number): string {
  const at = `tell at ${block.line}\n`;
  if (block.kind === "commands") return `${at}set -e\n${block.text}\nset +e\n`;
  if (block.kind === "session") {
    const calls = block.calls.map(
      ({ command }) => `tell call\ngive "$code"\n${command}\ncode=$?; tell "ended $code"\n`,
    );
    return `${at}code=0\n${calls.join("")}`;
  }
  if (block.kind !== "file") return "";
  const end = `END_OF_FILE_${index}`;
  return `${at}mkdir -p "$(dirname '${block.path}')"\ncat >'${block.path}' <<'${end}'\n${block.text}\n${end}\n`;
}

/** The output that a run of the script has left on the terminal. */
export interface Transcript {
  /** The bytes for the terminal and the exit code of each call in the page's sessions. */
  readonly calls: readonly { readonly line: number; readonly text: string; readonly code: number }[];
  /**
   * The line of the block in which the script ended, and the text that was printed since that block began; `undefined` if it came to
   * its end. The code is NaN if it was killed.
   */
  readonly stopped: { readonly line: number; readonly code: number; readonly text: string } | undefined;
}

/** Reads what the script has printed. */
export function readTranscript(raw: string): Transcript {
  const calls: { line: number; text: string; code: number }[] = [];
  let line = 0;
  let text = "";
  const parts = raw.split(MARK);
  for (let i = 0; i < parts.length; i += 2) {
    text += parts[i];
    const [word, value] = (parts[i + 1] ?? "").split(" ");
    const code = Number(value);
    if (word === "left") return { calls, stopped: code === 0 ? undefined : { line, code, text } };
    if (word === "ended") calls.push({ line, text, code });
    if (word === "at") line = Number(value);
    text = "";
  }
  return { calls, stopped: { line, code: Number.NaN, text } };
}
