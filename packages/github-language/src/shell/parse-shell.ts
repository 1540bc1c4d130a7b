import { ShellError } from "./shell-error.ts";

/** How a script is written to a file and run. */
export interface ShellTemplate {
  /** The program and its arguments; `{0}` in an argument stands for the path of the script. */
  readonly command: readonly string[];
  /** The extension of the script's file, with its dot; empty for a program that requires none. */
  readonly extension: string;
  /** The text of the script's file before the script; `append` is the text after it. */
  readonly prepend: string;
  readonly append: string;
  /** The line end in the script's file. */
  readonly lineEnd: "\n" | "\r\n";
}

const BUILT_IN: ReadonlyMap<string, readonly string[]> = new Map([
  ["bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", "{0}"]],
  ["sh", ["-e", "{0}"]],
  ["python", ["{0}"]],
  ["pwsh", ["-command", ". '{0}'"]],
  ["powershell", ["-command", ". '{0}'"]],
  // Node puts no quotes around a single argument that has its own when it is told to take it verbatim.
  ["cmd", ["/D", "/E:ON", "/V:OFF", "/S", "/C", '"CALL "{0}""']],
]);

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["bash", ".sh"],
  ["sh", ".sh"],
  ["python", ".py"],
  ["pwsh", ".ps1"],
  ["powershell", ".ps1"],
  ["cmd", ".cmd"],
]);

/**
 * Returns the program that a step's `shell` runs. When unset, that is `bash -e` where there is a bash and otherwise `sh
 * -e` (both without `pipefail`), on Windows PowerShell; `bash`, `sh`, `python`, `pwsh`, `powershell` and `cmd` are
 * built in; anything else is a template `program arguments` with `{0}` in its arguments, which need not be a shell at
 * all.
 *
 * Arguments are separated by blanks; double quotes keep blanks, a backslash keeps a double quote; `{{` and `}}` are
 * single braces. The path goes in after that, so a path with blanks stays one argument.
 *
 * @throws ShellError for a template that cannot be used.
 */
export function parseShell(
  shell: string | undefined,
  options: { readonly hasBash: boolean; readonly platform: string; readonly hasPwsh?: boolean },
): ShellTemplate {
  const text = (shell ?? "").trim();
  const isWindows = options.platform === "win32";
  if (text !== "") return parseTemplate(text, isWindows);
  if (isWindows) return parseTemplate((options.hasPwsh ?? true) ? "pwsh" : "powershell", true);
  return { ...scriptForm("sh", false), command: [options.hasBash ? "bash" : "sh", "-e", "{0}"] };
}

function parseTemplate(text: string, isWindows: boolean): ShellTemplate {
  const blank = text.search(/\s/);
  const word = blank < 0 ? text : text.slice(0, blank);
  const format = blank < 0 ? "" : text.slice(blank).trim();
  const known = word.toLowerCase();
  const builtIn = BUILT_IN.get(known);
  if (format === "" && builtIn) return { ...scriptForm(known, isWindows), command: [known, ...builtIn] };
  if (!format.includes("{0}")) {
    const hint = "Use bash, sh, python, pwsh, powershell or cmd, or a program with {0} among its arguments.";
    throw new ShellError(`The shell ${JSON.stringify(text)} is not built in and has no {0} for its script`, hint);
  }
  const words = splitArguments(format).map((argument) => unescapeBraces(argument, text));
  if (!words.some((argument) => argument.includes("{0}"))) {
    throw new ShellError(`The shell ${JSON.stringify(text)} has no {0} for its script`);
  }
  return { ...scriptForm(known, isWindows), command: [word, ...words] };
}

function scriptForm(program: string, isWindows: boolean): Omit<ShellTemplate, "command"> {
  const extension = EXTENSIONS.get(program) ?? "";
  const lineEnd = isWindows || program === "cmd" ? "\r\n" : "\n";
  if (extension === ".ps1") {
    const prepend = `$ErrorActionPreference = 'stop'${lineEnd}`;
    const append = `${lineEnd}if ((Test-Path -LiteralPath variable:\\LASTEXITCODE)) { exit $LASTEXITCODE }`;
    return { extension, prepend, append, lineEnd };
  }
  return { extension, prepend: program === "cmd" ? `@echo off${lineEnd}` : "", append: "", lineEnd };
}

// The rules of the official runner's process library: those of Windows on every platform.
function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const [part, backslashes = "", quote] of text.matchAll(/(\\*)(")|\\+|\s+|[^\s"\\]+/g)) {
    if (quote !== undefined) {
      word = (word ?? "") + "\\".repeat(Math.floor(backslashes.length / 2));
      if (backslashes.length % 2 === 1) word += '"';
      else isQuoted = !isQuoted;
    } else if (!isQuoted && part.trim() === "") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + part;
  }
  return word === undefined ? words : [...words, word];
}

function unescapeBraces(word: string, shell: string): string {
  return word.replaceAll(/\{\{|\}\}|\{0\}|[{}]/g, (part, at: number) => {
    if (part === "{0}") return part;
    const isLiteral = part === "{{" && word.slice(at).startsWith("{{0}}");
    if (part.length === 1 || isLiteral) {
      const hint = "{0} is the path of the script, {{ and }} are braces; nothing else may be between braces.";
      throw new ShellError(`The shell ${JSON.stringify(shell)} has a brace out of place`, hint);
    }
    return part[0] as string;
  });
}
