import { VARIABLE_PATTERN } from "@steps/model/environment";
import { type DescribedTable, describeKeys, implies, type JsonSchema, type Key, without } from "@steps/source/keys";
import { LOOP_HINTS } from "./control-keys.ts";
import { ANY, DURATION, ENV, FLAG, OUTPUT_VALUES, ref, TEXT } from "./shapes.ts";

/** The keys for steps that run after a list in any case; `ensure` is the other name of `finally`. */
export const FINALLY_KEYS: readonly string[] = ["finally", "ensure"];
/** The keys of which a definition has one: they say what it does. */
export const DEFINITION_KINDS = ["exec", "run", "steps", "parallel"] as const;
/** The keys that a definition may have beside a list only. */
export const LIST_ONLY_KEYS: readonly string[] = ["outputs", "delegate", ...FINALLY_KEYS];
export const WORK_DIR_KEYS: readonly string[] = ["work_dir", "workdir", "working_dir", "workDir"];
export const LATER_TYPES: readonly string[] = ["grpc", "container"];

export const INHERIT_ENV: Key = {
  about:
    "Which variables the step inherits besides `PATH`, `HOME`, `TMPDIR` and `LANG`: names and patterns (`AWS_*`), `false` for none, `true` for those that every step gets.",
  shape: { anyOf: [FLAG, { type: "array", items: { type: "string", pattern: VARIABLE_PATTERN.source } }] },
};

const LAST: Key = { about: "Steps that run when the list has ended, however it did.", shape: ref("items") };

/** The keys that a definition and an item written in place have in common. */
export const BODY_KEYS: Readonly<Record<"exec" | "run" | "steps" | "parallel", Key>> = {
  exec: { about: "A command, run without a shell.", shape: ref("exec") },
  run: { about: "A list of steps, run in order; the first that fails ends it.", shape: ref("items") },
  steps: { about: "The older name of `run`.", shape: ref("items"), isOld: true },
  parallel: { about: "A list of steps that all start at once. None sees another's results.", shape: ref("items") },
};

export const LIST_KEYS: Readonly<Record<string, Key>> = {
  type: {
    about: "`exec` or `steps`, as step files of 2024 say it. It may be left out.",
    shape: { enum: ["exec", "steps"] },
  },
  outputs: {
    about: "The values of the step's outputs, expanded when the list has ended: `${{ steps.NAME.outputs.x }}`.",
    shape: OUTPUT_VALUES,
  },
  delegate: {
    about: "The name of the step of the list whose outputs are this step's.",
    shape: { type: "string", minLength: 1 },
  },
  finally: LAST,
  ensure: { ...LAST, isOld: true },
};

/** The keys that go with a command, and those that go with a list. */
export const EXEC_OR_LIST: JsonSchema = implies(
  { required: ["exec"] },
  { properties: { type: { const: "exec" }, ...without(LIST_ONLY_KEYS) } },
  { properties: { type: { const: "steps" } } },
);

const IN_LIST = "That is a step of a list: write run: and make it an item.";
const IN_LIST_ITEM = "Write it at the item of the list that names the step.";
const IN_EXEC = "Write it inside of exec:.";

/** The second document of a step file. */
export const DEFINITION_KEYS: DescribedTable = describeKeys({
  what: "a definition",
  keys: {
    ...BODY_KEYS,
    ...LIST_KEYS,
    env: { about: "Variables of the step and of all it runs. They may hold expressions.", shape: ENV },
    inherit_env: INHERIT_ENV,
    description: { about: "What the step does.", shape: ANY },
  },
  oneOf: DEFINITION_KINDS,
  atMostOne: [FINALLY_KEYS],
  rules: [EXEC_OR_LIST],
  later: ["grpc", "container"],
  hints: {
    ...LOOP_HINTS,
    if: IN_LIST_ITEM,
    when: IN_LIST_ITEM,
    retry: IN_LIST_ITEM,
    continue_on_error: IN_LIST_ITEM,
    timeout: "Write it inside of exec:, or at the item that names the step.",
    script: IN_LIST,
    step: IN_LIST,
    func: IN_LIST,
    action: IN_LIST,
    command: IN_EXEC,
    work_dir: IN_EXEC,
    workdir: IN_EXEC,
    working_dir: IN_EXEC,
    workDir: IN_EXEC,
    spec: "The spec is the first document, before a line of ---.",
    inputs: "Inputs are declared in the first document, inside of spec:.",
  },
});

const WORK_DIR: Key = { about: "Where the command runs, relative to the job's directory.", shape: TEXT };

export const EXEC_KEYS: DescribedTable = describeKeys({
  what: "exec",
  keys: {
    command: {
      about: "The program and its arguments. No shell is involved; each may hold expressions.",
      shape: { type: "array", minItems: 1, items: TEXT },
    },
    timeout: { about: "How long the process may take: `30s`, `5m`; a bare number is seconds.", shape: DURATION },
    cancel_timeout: { about: "What the process has between TERM and KILL when it is stopped.", shape: DURATION },
    context_file: {
      about: "Whether the process finds its inputs and its environment as JSON in the file `$STEP_JSON`.",
      shape: FLAG,
    },
    work_dir: WORK_DIR,
    workdir: { ...WORK_DIR, isOld: true },
    working_dir: { ...WORK_DIR, isOld: true },
    workDir: { ...WORK_DIR, isOld: true },
  },
  required: ["command"],
  atMostOne: [WORK_DIR_KEYS],
  hints: { env: "Write it beside exec:." },
});
