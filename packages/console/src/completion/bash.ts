import {
  type CompletedCommand,
  type CompletedProgram,
  firstWords,
  hasListed,
  membersOf,
  type Values,
} from "./completed-program.ts";

/** The script that completes a program in bash 3.2 and later, without the package bash-completion. */
export function bashCompletion(program: CompletedProgram): string {
  const { name, identifier, commands, groups } = program;
  const grouped = groups.map((group) => [group, membersOf(commands, group).map(([word]) => word)] as const);
  return `# Completion of ${name} for bash, made by: ${name} completion bash
${hasListed(program) ? listed(program) : ""}_${identifier}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags= values= kind= listed= at=1
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
  esac${hasListed(program) ? `\n  if [[ -n $listed ]]; then IFS=' '; _${identifier}_listed $listed; fi` : ""}
}
complete -F _${identifier} ${name}
`;
}

/** The function that adds to the names of files what the program lists. Readline shows the lines, and takes their first words. */
function listed({ name, identifier }: CompletedProgram): string {
  return `_${identifier}_listed() {
  local line words=() rows=()
  while IFS= read -r line; do
    case $line in "$current"*'  '*) words+=("\${line%%  *}") rows+=("\${line:0:\${COLUMNS:-80}-2}") ;; esac
  done < <(command ${name} "$@" 2>/dev/null </dev/null)
  ((\${#words[@]} == 0)) && return
  compopt +o filenames -o nosort 2>/dev/null
  # Only the lists that readline prints can hold more than what is inserted.
  case \${#words[@]}.\${#COMPREPLY[@]}.\${COMP_TYPE:-9} in
    1.0.*|*.37|*.42) COMPREPLY=("\${words[@]}" "\${COMPREPLY[@]}") ;;
    *) COMPREPLY=("\${rows[@]}" "\${COMPREPLY[@]}") ;;
  esac
}
`;
}

function secondWord(group: string, members: readonly string[]): string {
  return `    ${group})
      if ((COMP_CWORD == at + 1)); then COMPREPLY=($(compgen -W '${members.join(" ")}' -- "$current")); return; fi
      command="${group} \${COMP_WORDS[at+1]}" ;;`;
}

function commandCase({ name, flags, argument, listedBy }: CompletedCommand): string {
  const withValues = flags.filter(({ placeholder }) => placeholder !== undefined);
  const switches = withValues.map(({ name: flag, short, values }) => {
    const patterns = short === undefined ? `--${flag}` : `--${flag}|-${short}`;
    return `        ${patterns}) ${assign(values)} ;;`;
  });
  return `    '${name}')
      flags='${flags.map((flag) => `--${flag.name}`).join(" ")}'
      case $before in
${[...switches, `        *) [[ $current == -* ]] || { ${assign(argument)}${listedBy === undefined ? "" : ` listed='${listedBy}'`}; } ;;`].join("\n")}
      esac ;;`;
}

function assign(values: Values): string {
  return typeof values === "string" ? `kind=${values}` : `kind=words values='${values.join(" ")}'`;
}
