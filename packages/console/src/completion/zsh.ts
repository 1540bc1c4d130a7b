import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedProgram,
  firstWords,
  hasListed,
  membersOf,
  type Values,
} from "./completed-program.ts";

/** The script that completes a program in zsh: to be sourced, or as a file `_NAME` in a folder of `fpath`. */
export function zshCompletion(program: CompletedProgram): string {
  const { name, identifier, commands, groups } = program;
  const grouped = groups.map((group) => groupCase(group, membersOf(commands, group)));
  return `#compdef ${name}
# Completion of ${name} for zsh, made by: ${name} completion zsh
${hasListed(program) ? listed(program) : ""}_${identifier}() {
  local curcontext="$curcontext" state line command
  typeset -A opt_args
  _arguments -C '1: :->command' '*:: :->arguments' '--help[Show the commands]' '--version[Show the version]' && return
  if [[ $state == command ]]; then
    local -a words_of_program=(
${describe([...firstWords(program), ["help", "Show the help of a command"]], "      ")}
    )
    _describe -t commands 'command' words_of_program
    return
  fi
  command=$words[1]
  if [[ $command == help ]]; then shift words; ((CURRENT--)); command=$words[1]; fi
  if ((CURRENT == 1)); then
    local -a words_of_help=(
${describe(firstWords(program), "      ")}
    )
    _describe -t commands 'command' words_of_help
    return
  fi
  case $command in
${grouped.join("\n")}
  esac
  case $command in
${commands.map((command) => commandCase(command, identifier)).join("\n")}
  esac
}
if [[ $funcstack[1] == _${identifier} ]]; then _${identifier} "$@"; else compdef _${identifier} ${name}; fi
`;
}

/** The function that offers what the program lists, and files. */
function listed({ name, identifier }: CompletedProgram): string {
  return `_${identifier}_listed() {
  local ret=1
  local -a rows
  rows=(\${(M)\${(f)"$(command ${name} "$@" 2>/dev/null </dev/null)"}:#*  *})
  rows=("\${rows[@]/  /:}")
  ((\${#rows})) && _describe -V -t listed 'listed' rows && ret=0
  _files && ret=0
  return ret
}
`;
}

function groupCase(group: string, members: readonly (readonly [string, string])[]): string {
  return `    ${group})
      if ((CURRENT == 2)); then
        local -a words_of_group=(
${describe(members, "          ")}
        )
        _describe -t commands '${group} command' words_of_group
        return
      fi
      command="${group} $words[2]"
      shift words
      ((CURRENT--)) ;;`;
}

function commandCase({ name, flags, argument, listedBy }: CompletedCommand, identifier: string): string {
  // The blank keeps the options of the completion apart from the arguments.
  const action = listedBy === undefined ? actionOf(argument) : ` _${identifier}_listed ${listedBy}`;
  const specs = [...flags.flatMap(flagSpecs), `'(- *)--help[Show the help of the command]'`, `'*: :${action}'`];
  return `    '${name}')
      _arguments -s ${specs.join(" \\\n        ")} ;;`;
}

function flagSpecs({ name, short, summary, placeholder, values, isRepeated }: CompletedFlag): readonly string[] {
  const star = isRepeated ? "*" : "";
  const text = `[${escape(summary)}]`;
  const value = placeholder === undefined ? "" : `:${escape(placeholder)}:${actionOf(values)}`;
  const long = `'${star}--${name}${placeholder === undefined ? "" : "="}${text}${value}'`;
  return short === undefined
    ? [long]
    : [long, `'${star}-${short}${placeholder === undefined ? "" : "+"}${text}${value}'`];
}

function actionOf(values: Values): string {
  if (values === "files") return "_files";
  if (values === "folders") return "_files -/";
  return values === "nothing" ? " " : `(${values.join(" ")})`;
}

function describe(words: readonly (readonly [string, string])[], indent: string): string {
  return words.map(([word, summary]) => `${indent}'${word}:${escape(summary)}'`).join("\n");
}

function escape(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, String.raw`\$&`).replaceAll("'", String.raw`'\''`);
}
