import { nearest } from "@steps/model";
import { type Command, UsageError } from "./command.ts";
import { formatHelp, formatOverview } from "./help.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import { describeFailure } from "./failure.ts";
import { complain, errors, print, terminalOf } from "./terminal.ts";

/** A command is loaded when it is called. Groups have the names of their members after a blank. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  ci: async () => (await import("./commands/ci.ts")).ci,
  local: async () => (await import("./commands/local.ts")).local,
  run: async () => (await import("./commands/run.ts")).run,
  compile: async () => (await import("./commands/compile.ts")).compile,
  validate: async () => (await import("./commands/validate.ts")).validate,
  replay: async () => (await import("./commands/replay.ts")).replay,
  "trace show": async () => (await import("./commands/trace-show.ts")).traceShow,
  "trace recover": async () => (await import("./commands/trace-recover.ts")).traceRecover,
  "cache ls": async () => (await import("./commands/cache-ls.ts")).cacheLs,
  "cache verify": async () => (await import("./commands/cache-verify.ts")).cacheVerify,
  "cache gc": async () => (await import("./commands/cache-gc.ts")).cacheGc,
};

const HELP = new Set(["--help", "-h", "help"]);

/** Runs the command that the arguments name and gives its exit code; 2 for arguments that make no sense. */
export async function dispatch(args: readonly string[]): Promise<number> {
  const { name, rest } = nameOf(args);
  const load = COMMANDS[name];
  try {
    if (load === undefined) return await withoutCommand(name, rest);
    const command = await load();
    if (rest.some((arg) => arg === "--help" || arg === "-h")) {
      await print(formatHelp(command, terminalOf(1)));
      return 0;
    }
    return await command.run(parseCommandLine(command, rest, process.env));
  } catch (error) {
    return describeFailure(error, name);
  }
}

function nameOf(args: readonly string[]): { name: string; rest: readonly string[] } {
  const shifted = HELP.has(args[0] ?? "") && args.length > 1 ? [...args.slice(1), "--help"] : args;
  const [first = "", second = ""] = shifted;
  if (Object.hasOwn(COMMANDS, `${first} ${second}`)) return { name: `${first} ${second}`, rest: shifted.slice(2) };
  return { name: first, rest: shifted.slice(1) };
}

async function withoutCommand(name: string, rest: readonly string[]): Promise<number> {
  const members = Object.keys(COMMANDS).filter((known) => known.startsWith(`${name} `));
  if (name === "" || HELP.has(name)) {
    const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
    const text = formatOverview(commands, terminalOf(1));
    if (HELP.has(name)) await print(text);
    else await errors.write(Buffer.from(text));
    return HELP.has(name) ? 0 : 2;
  }
  if (members.length > 0 && rest.some((arg) => HELP.has(arg))) {
    const commands = await Promise.all(members.map((member) => (COMMANDS[member] as () => Promise<Command>)()));
    await print(formatOverview(commands, terminalOf(1)));
    return 0;
  }
  if (members.length > 0) {
    const hint = `Write step-runner ${members.join(" or step-runner ")}.`;
    throw new UsageError(
      rest[0] === undefined ? `"${name}" needs a second word` : `Unknown command: "${name} ${rest[0]}"`,
      hint,
    );
  }
  const near = nearest(name, Object.keys(COMMANDS));
  complain(
    `Unknown command: "${name}"`,
    near === undefined ? "step-runner --help lists the commands." : `Did you mean step-runner ${near}?`,
  );
  return 2;
}
