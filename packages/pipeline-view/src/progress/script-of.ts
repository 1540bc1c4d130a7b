/** The script that a command gives to a shell; `undefined` for any other command. */
export function scriptOf(command: readonly string[]): string | undefined {
  const isShell = /^(?:.*\/)?(?:ba|da|z|k|a)?sh$/.test(command[0] ?? "");
  return isShell && command.length > 2 && command.at(-2)?.startsWith("-") === true ? command.at(-1) : undefined;
}
