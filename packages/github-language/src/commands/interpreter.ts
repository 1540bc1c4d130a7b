import { messageOf } from "@steps/model";
import { type AnnotationLevel, ANNOTATIONS_PER_LEVEL, type Annotation, commandAnnotation } from "./annotation.ts";
import { isBlockedVariable } from "./file-command.ts";
import { createGroupMarks, type GroupMarks, type GroupStyle } from "./group-marks.ts";
import { maskForms } from "./mask-forms.ts";
import { parseCommand, type WorkflowCommand } from "./parse-command.ts";
import type { MatchScan, ProblemMatchers } from "./problem-matchers.ts";

/** Takes the effects of commands; called in order, synchronously. An error that it throws becomes a problem of the command. */
export interface CommandSink {
  setOutput(name: string, value: string): void;
  saveState(name: string, value: string): void;
  /** Called only when commands that set variables and paths are allowed. */
  setEnv(name: string, value: string): void;
  addPath(path: string): void;
  /** A secret in all its forms, as `maskForms` gives them. */
  addMask(values: readonly string[]): void;
  /** Called at most `ANNOTATIONS_PER_LEVEL` times for each level of one interpreter. */
  annotate(annotation: Annotation): void;
  /** A command that makes the step fail although its process exits with 0. */
  problem(message: string): void;
  /** Reads the file and calls `matchers.add(text, file)`. */
  addMatcher(file: string): void;
}

/** The options of `createInterpreter()`. */
export interface InterpreterOptions {
  readonly sink: CommandSink;
  /** The problem matchers, which the whole job shares. */
  readonly matchers: ProblemMatchers;
  /** Whether `set-env` and `add-path` are allowed: `ACTIONS_ALLOW_UNSECURE_COMMANDS` is `true`. */
  readonly allowsUnsecure: boolean;
  /** Whether `debug` messages are shown; commands are echoed then until `::echo::off`. */
  readonly isDebug: boolean;
  readonly groupStyle: GroupStyle;
  /** Returns milliseconds since 1970, for the marks of GitLab's sections. */
  readonly now: () => number;
}

/** Interprets the lines of one process: the commands on both of its streams are one sequence. */
export interface Interpreter {
  /**
   * Returns the text to print instead of a line, both without line end; `undefined` for nothing at all. A line that is
   * no command is returned unchanged. `stream` is any object that identifies the stream: lines of different streams do
   * not form one problem of several lines.
   */
  line(text: string, stream?: object): string | undefined;
  /** Whether lines that are no commands have to be seen too, because there are problem matchers. */
  readonly needsAllLines: boolean;
  /**
   * Returns the text that ends a group that is still open, to print after the last line; `undefined` for none. The last
   * filter of an interpreter to end prints it.
   */
  close(): string | undefined;
}

interface State {
  readonly options: InterpreterOptions;
  readonly marks: GroupMarks;
  readonly counts: Map<AnnotationLevel, number>;
  isEchoing: boolean;
  /**
   * The token of `stop-commands`, in lower case. Until it appears it is the only command. Undefined while commands are
   * taken.
   */
  stopToken: string | undefined;
}

type Handler = (command: WorkflowCommand, state: State) => string | undefined;

interface Rule {
  readonly run: Handler;
  /** Whether `::echo::on` shows the command itself before what it prints. */
  readonly isEchoed: boolean;
}

class CommandProblem extends Error {}

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    "set-output",
    {
      run: (command, { options }) => setNamed(command, (name, value) => options.sink.setOutput(name, value)),
      isEchoed: true,
    },
  ],
  [
    "save-state",
    {
      run: (command, { options }) => setNamed(command, (name, value) => options.sink.saveState(name, value)),
      isEchoed: true,
    },
  ],
  ["set-env", { run: setEnv, isEchoed: true }],
  ["add-path", { run: addPath, isEchoed: true }],
  ["add-mask", { run: addMask, isEchoed: false }],
  ["debug", { run: debug, isEchoed: false }],
  ["notice", { run: (command, state) => report("notice", command, state), isEchoed: false }],
  ["warning", { run: (command, state) => report("warning", command, state), isEchoed: false }],
  ["error", { run: (command, state) => report("error", command, state), isEchoed: false }],
  ["group", { run: ({ data }, { marks }) => marks.open(data), isEchoed: true }],
  ["endgroup", { run: (_command, { marks }) => marks.end(), isEchoed: true }],
  ["echo", { run: setEcho, isEchoed: true }],
  ["stop-commands", { run: stopCommands, isEchoed: false }],
  ["add-matcher", { run: addMatcher, isEchoed: true }],
  ["remove-matcher", { run: removeMatcher, isEchoed: true }],
]);

/** An interpreter for one process of a step: limits, `echo`, `stop-commands` and open groups are its own. */
export function createInterpreter(options: InterpreterOptions): Interpreter {
  const marks = createGroupMarks(options.groupStyle, options.now);
  const state: State = { options, marks, counts: new Map(), isEchoing: options.isDebug, stopToken: undefined };
  const scans = new WeakMap<object, MatchScan>();
  const isKnown = (name: string): boolean =>
    state.stopToken === undefined ? RULES.has(name) : name === state.stopToken;
  return {
    line(text, stream = scans) {
      const command = text.includes("::") || text.includes("##[") ? parseCommand(text, isKnown) : undefined;
      if (command) return runCommand(text, command, state);
      if (options.matchers.size === 0) return text;
      let scan = scans.get(stream);
      if (!scan) scans.set(stream, (scan = options.matchers.createScan()));
      return matchLine(text, scan, state);
    },
    get needsAllLines() {
      return options.matchers.size > 0;
    },
    close: () => marks.close(),
  };
}

function runCommand(line: string, command: WorkflowCommand, state: State): string | undefined {
  const printed: string[] = [];
  const rule = RULES.get(command.name);
  if (state.stopToken !== undefined || !rule) state.stopToken = undefined;
  else {
    if (state.isEchoing && rule.isEchoed) printed.push(line.slice(command.prefix.length));
    try {
      const result = rule.run(command, state);
      if (result !== undefined) printed.push(result);
    } catch (error) {
      const shown = rule.isEchoed ? line.slice(command.prefix.length) : command.name;
      printed.push(fail(`Unable to process command '${shown}' successfully.`, messageOf(error), state));
    }
  }
  if (printed.length === 0) return command.prefix === "" ? undefined : command.prefix;
  return command.prefix + printed.join("\n");
}

function fail(heading: string, message: string, { options }: State): string {
  options.sink.problem(message);
  return `##[error]${heading}\n##[error]${message}`;
}

function matchLine(text: string, scan: MatchScan, state: State): string {
  const { matchers } = state.options;
  const annotation = matchers.match(text, scan);
  const dropped = matchers.takeDropped().map((owner) => {
    return warn(`Removing issue matcher '${owner}': it took too long on three lines`, state);
  });
  const printed = annotation ? `##[${annotation.level}]${matchers.plainText(text)}` : text;
  if (annotation) annotate(annotation, state);
  return dropped.length === 0 ? printed : [...dropped, printed].join("\n");
}

function annotate(annotation: Annotation, { options, counts }: State): void {
  const count = counts.get(annotation.level) ?? 0;
  counts.set(annotation.level, count + 1);
  if (count < ANNOTATIONS_PER_LEVEL) options.sink.annotate(annotation);
}

function report(level: AnnotationLevel, { data, properties }: WorkflowCommand, state: State): string {
  annotate(commandAnnotation(level, data, properties), state);
  return `##[${level}]${data}`;
}

function warn(message: string, state: State): string {
  annotate(commandAnnotation("warning", message), state);
  return `##[warning]${message}`;
}

function requiredName({ name, properties }: WorkflowCommand): string {
  const value = properties.get("name");
  if (value === undefined) throw new CommandProblem(`Required field 'name' is missing in ##[${name}] command.`);
  return value;
}

function setNamed(command: WorkflowCommand, set: (name: string, value: string) => void): undefined {
  set(requiredName(command), command.data);
}

function requireUnsecure({ name }: WorkflowCommand, { options }: State): void {
  if (options.allowsUnsecure) return;
  throw new CommandProblem(
    `The \`${name}\` command is disabled. Please use the file named by GITHUB_${name === "set-env" ? "ENV" : "PATH"} ` +
      "instead, or set the variable `ACTIONS_ALLOW_UNSECURE_COMMANDS` to `true`.",
  );
}

function setEnv(command: WorkflowCommand, state: State): string | undefined {
  requireUnsecure(command, state);
  const name = requiredName(command);
  if (isBlockedVariable(name)) {
    const message = `Can't update ${name.toUpperCase()} environment variable using ::set-env:: command.`;
    annotate(commandAnnotation("error", message), state);
    return `##[error]${message}`;
  }
  state.options.sink.setEnv(name, command.data);
  return undefined;
}

function addPath(command: WorkflowCommand, state: State): undefined {
  requireUnsecure(command, state);
  if (command.data === "") throw new CommandProblem("The path of ##[add-path] command must not be empty.");
  state.options.sink.addPath(command.data);
}

function addMask({ data }: WorkflowCommand, state: State): string | undefined {
  const forms = maskForms(data);
  if (forms.length === 0) return warn("Can't add secret mask for empty string in ##[add-mask] command.", state);
  state.options.sink.addMask(forms);
  return state.isEchoing ? "::add-mask::***" : undefined;
}

function debug({ data }: WorkflowCommand, { options }: State): string | undefined {
  if (!options.isDebug) return undefined;
  return data
    .split(/\r?\n/)
    .map((line) => `##[debug]${line}`)
    .join("\n");
}

function setEcho({ data }: WorkflowCommand, state: State): undefined {
  const value = data.trim().toLowerCase();
  if (value !== "on" && value !== "off") {
    throw new CommandProblem(
      `Invalid echo command value. Possible values can be: 'on', 'off'. Current value is: '${data}'.`,
    );
  }
  state.isEchoing = value === "on";
}

function stopCommands({ data }: WorkflowCommand, state: State): string | undefined {
  const token = data.toLowerCase();
  if (token === "" || token === "pause-logging" || RULES.has(token)) {
    throw new CommandProblem(
      "You cannot use a endToken that is an empty string, the string 'pause-logging', or another workflow command.",
    );
  }
  state.stopToken = token;
  if (data.length > 6) state.options.sink.addMask(maskForms(data));
  return state.isEchoing ? `::stop-commands::${data.length > 6 ? "***" : data}` : undefined;
}

function addMatcher({ data }: WorkflowCommand, state: State): string | undefined {
  if (data === "") return warn("File path must be specified.", state);
  state.options.sink.addMatcher(data);
  return undefined;
}

function removeMatcher({ data, properties }: WorkflowCommand, state: State): string | undefined {
  const owner = properties.get("owner");
  if (owner !== undefined && data !== "") {
    return warn("Either an owner or a file may be given in ##[remove-matcher] command, not both.", state);
  }
  if (owner !== undefined) state.options.matchers.remove(owner);
  else if (data !== "") state.options.matchers.removeByFile(data);
  else return warn("An owner or a file must be given in ##[remove-matcher] command.", state);
  return undefined;
}
