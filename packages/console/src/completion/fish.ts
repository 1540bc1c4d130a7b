import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedProgram,
  firstWords,
  membersOf,
  type Values,
} from "./completed-program.ts";

/** The script that completes a program in fish: to be sourced, or as a file `NAME.fish` in `~/.config/fish/completions`. */
export function fishCompletion(program: CompletedProgram): string {
  const { name, identifier, commands, groups } = program;
  const is = `__${identifier}_is`;
  const grouped = groups.flatMap((group) =>
    membersOf(commands, group).map(([word, summary]) => wordLine(name, `${is} ${group}`, word, summary)),
  );
  return `# Completion of ${name} for fish, made by: ${name} completion fish
function ${is} --description 'Whether these are the words of the command so far'
    set -l words (commandline -opc)[2..-1]
    test "$words[1]" = help; and set -e words[1]
    test (count $argv) -eq 0; and test (count $words) -eq 0; and return
    switch "$words[1]"
        case ${groups.length === 0 ? "''" : groups.join(" ")}
            test "$words[1..2]" = "$argv"
        case '*'
            test "$words[1]" = "$argv"
    end
end
complete -c ${name} -f
complete -c ${name} -n ${is} -l version -d 'Show the version'
complete -c ${name} -l help -d 'Show the help'
${[
  ...firstWords(program).map(([word, summary]) => wordLine(name, is, word, summary)),
  wordLine(name, is, "help", "Show the help of a command"),
  ...grouped,
  ...commands.flatMap((command) => commandLines(name, is, command)),
].join("\n")}
`;
}

function wordLine(program: string, condition: string, word: string, summary: string): string {
  return `complete -c ${program} -n '${condition}' -a ${word} -d ${quote(summary)}`;
}

function commandLines(
  program: string,
  is: string,
  { name, flags, argument, listedBy }: CompletedCommand,
): readonly string[] {
  const begin = `complete -c ${program} -n '${is} ${name}'`;
  const own = argument === "nothing" ? [] : [`${begin}${valuesOf(argument)}`];
  const listed = listedBy === undefined ? [] : [`${begin} -k -a ${quote(rowsOf(program, listedBy))}`];
  return [...own, ...listed, ...flags.map((flag) => `${begin}${flagOf(flag)}`)];
}

// A tab is what stands between a word and its description. Fish complains of a command that is not there.
function rowsOf(program: string, listedBy: string): string {
  return `(command -sq ${program}; and command ${program} ${listedBy} 2>/dev/null </dev/null | string replace -rf "  +" \\t)`;
}

function flagOf({ name, short, summary, placeholder, values }: CompletedFlag): string {
  const letter = short === undefined ? "" : ` -s ${short}`;
  const value = placeholder === undefined ? "" : ` -r${values === "nothing" ? " -f" : valuesOf(values)}`;
  return `${letter} -l ${name}${value} -d ${quote(summary)}`;
}

function valuesOf(values: Values): string {
  if (values === "files") return " -F";
  if (values === "folders") return ` -f -a '(__fish_complete_directories)'`;
  return values === "nothing" ? "" : ` -f -a ${quote(values.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
