const VARIABLE = "MALLOC_TRIM_THRESHOLD_";
/** Servers, which are there for months. */
const COMMANDS: ReadonlySet<string | undefined> = new Set(["serve", "daemon"]);

/**
 * Has the C library give back memory that was freed, which it reads from a variable before the program begins: the same process starts
 * again with it. By itself, glibc keeps up to 64 MiB in each of several heaps once something large was freed, and V8 frees much after it
 * has compiled the embedded database. Elsewhere nothing happens.
 */
export function giveMemoryBack(args: readonly string[]): void {
  const { env, execPath, execArgv, argv } = process;
  // A parent that talks with this process would lose it.
  if (!COMMANDS.has(args[0]) || process.platform !== "linux" || process.connected) return;
  if (process.execve === undefined || env[VARIABLE] !== undefined) return;
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [VARIABLE]: "131072" });
}
