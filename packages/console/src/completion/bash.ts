import {
  type CompletedCommand,
  type CompletedProgram,
  firstWords,
  membersOf,
  type Values,
} from "./completed-program.ts";

/** The script that completes a program in bash 3.2 and later, without the package bash-completion. */
export function bashCompletion(program: CompletedProgram): string {
  const { name, identifier, commands, groups } = program;
  const grouped = groups.map((group) => [group, membersOf(commands, group).map(([word]) => word)] as const);
  return `# Completion of ${name} for bash, made by: ${name} completion bash
_${identifier}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags= values= kind= at=1
  local command=\${COMP_WORDS[1]} IFS=$' \\t\\n'
  COMPREPLY=()
  # In --flag=value the sign is a word of its own.
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case $command in help) command=\${COMP_WORDS[2]} at=2 ;; esac
  if ((COMP_CWORD <= at)); then
    COMPREPLY=($(compgen -W '${firstWords(program)
      .map(([word]) => word)
      .join(" ")} help --help --version' -- "$current"))
    return
  fi
  case $command in
${grouped.map(([group, members]) => secondWord(group, members)).join("\n")}
  esac
  case $command in
${commands.map(commandCase).join("\n")}
  esac
  if [[ $current == -* && -z $values$kind ]]; then values="$flags --help" kind=words; fi
  case $kind in
    words) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
    folders) IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$current")); compopt -o filenames 2>/dev/null ;;
    files) IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null ;;
  esac
}
complete -F _${identifier} ${name}
`;
}

function secondWord(group: string, members: readonly string[]): string {
  return `    ${group})
      if ((COMP_CWORD == at + 1)); then COMPREPLY=($(compgen -W '${members.join(" ")}' -- "$current")); return; fi
      command="${group} \${COMP_WORDS[at+1]}" ;;`;
}

function commandCase({ name, flags, argument }: CompletedCommand): string {
  const withValues = flags.filter(({ placeholder }) => placeholder !== undefined);
  const switches = withValues.map(({ name: flag, short, values }) => {
    const patterns = short === undefined ? `--${flag}` : `--${flag}|-${short}`;
    return `        ${patterns}) ${assign(values)} ;;`;
  });
  return `    '${name}')
      flags='${flags.map((flag) => `--${flag.name}`).join(" ")}'
      case $before in
${[...switches, `        *) [[ $current == -* ]] || { ${assign(argument)}; } ;;`].join("\n")}
      esac ;;`;
}

function assign(values: Values): string {
  return typeof values === "string" ? `kind=${values}` : `kind=words values='${values.join(" ")}'`;
}
