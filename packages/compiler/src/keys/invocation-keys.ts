import { NAME_PATTERN, STEP_NAME_PATTERN } from "@steps/model/definition";
import { type DescribedTable, describeKeys, implies, type JsonSchema, type Key, without } from "@steps/source/keys";
import { CONTINUE_KEYS, CONTROL_KEYS, LOOP_HINTS } from "./control-keys.ts";
import { BODY_KEYS, EXEC_OR_LIST, FINALLY_KEYS, INHERIT_ENV, LIST_KEYS } from "./definition-keys.ts";
import { ANY, ENV, EXPRESSION, FLAG, INPUT_VALUES, ref, STRING } from "./shapes.ts";

/** The keys of which an item of a list has one: they say what it does. */
export const KIND_KEYS = ["step", "func", "script", "action", "uses", "exec", "run", "steps", "parallel"] as const;
/** Those that name a GitHub action. */
const ACTION_KEYS: readonly string[] = ["action", "uses"];
/** Those that are a definition written in place. */
export const INLINE_KINDS: readonly string[] = Object.keys(BODY_KEYS);

const REFERENCE: Key = {
  about:
    "The step to run: `./dir`, `host/group/project@REV`, `registry/repository:tag`, `x.zip`, `builtin://name`, or `{git: …}`.",
  shape: ref("reference"),
};

const ACTION: Key = {
  about:
    "The GitHub action to run: `owner/repo@ref`, `owner/repo/dir@ref`, the URL of a repository on another host, `./dir` in the workspace, or `docker://image`.",
  shape: { type: "string", pattern: "\\S" },
};

// Names of an action's inputs are GitHub's, which may hold hyphens and blanks.
const ACTION_INPUTS: JsonSchema = { type: ["object", "null"] };

const COMMON_KEYS: Readonly<Record<string, Key>> = {
  name: {
    about: "The name of the step in its list, for `${{ steps.NAME.outputs.x }}`.",
    shape: { type: "string", pattern: STEP_NAME_PATTERN.source },
  },
  step: REFERENCE,
  func: { ...REFERENCE, about: `${REFERENCE.about} The same as \`step\`.` },
  script: {
    about: "Shell commands. What is pasted into them with `${{ }}` is code to the shell: pass values through `env`.",
    shape: {
      anyOf: [
        { type: "string", pattern: "\\S" },
        { type: "array", minItems: 1, items: { type: ["string", "number", "boolean"] } },
      ],
    },
  },
  action: ACTION,
  uses: { ...ACTION, about: `${ACTION.about} GitHub's word for \`action\`.` },
  ...BODY_KEYS,
  env: { about: "Variables of the step. They may hold expressions, and its `inputs` see them.", shape: ENV },
  inputs: { about: "Values for the inputs of the step. They may hold expressions.", shape: ACTION_INPUTS },
  with: { about: "GitHub's word for `inputs`; only an action has it.", shape: ACTION_INPUTS },
  secrets: {
    about:
      "What the step is granted of what its spec asks for: `{NAME: ${{ vars.TOKEN }}}`, or a list of names of the caller's own.",
    shape: {
      anyOf: [
        { type: ["object", "null"], propertyNames: { pattern: NAME_PATTERN.source }, additionalProperties: EXPRESSION },
        { type: "array", items: { type: "string", pattern: NAME_PATTERN.source } },
      ],
    },
  },
  description: { about: "What the step does here.", shape: ANY },
  ...CONTROL_KEYS,
};

const IN_RUN = "It goes with run:, for what has to be done after a list of steps.";
const HINTS = {
  ...LOOP_HINTS,
  finally: IN_RUN,
  ensure: IN_RUN,
};

/** An item that names a step, or holds a script. */
export const INVOCATION_KEYS: DescribedTable = describeKeys({
  what: "a step",
  keys: COMMON_KEYS,
  hints: HINTS,
});

const IS_INLINE: JsonSchema = { anyOf: INLINE_KINDS.map((key) => ({ required: [key] })) };

/** An item that holds a definition. */
export const INLINE_KEYS: DescribedTable = describeKeys({
  what: "an inline step",
  keys: { ...COMMON_KEYS, ...LIST_KEYS, inherit_env: INHERIT_ENV },
  hints: HINTS,
  oneOf: KIND_KEYS,
  atMostOne: [CONTINUE_KEYS, FINALLY_KEYS, ["inputs", "with"]],
  rules: [
    implies(
      IS_INLINE,
      { properties: without(["inputs", "secrets", "delegate"]) },
      { properties: without([...Object.keys(LIST_KEYS), "inherit_env"]) },
    ),
    EXEC_OR_LIST,
    implies(
      { anyOf: ACTION_KEYS.map((key) => ({ required: [key] })) },
      { properties: without(["secrets"]) },
      { properties: { with: false, inputs: INPUT_VALUES } },
    ),
    implies({ required: ["script"] }, { properties: { inputs: ref("scriptInputs"), secrets: false } }),
  ],
});

const SETTING = { anyOf: [FLAG, EXPRESSION] };

/** Settings of a script. */
export const SCRIPT_INPUTS: DescribedTable = describeKeys({
  what: "the inputs of a script",
  keys: {
    shell: { about: "The shell that runs the script; by default the first bash, else sh.", shape: STRING },
    errexit: { about: "Stop at the first failing line. By default `true`.", shape: SETTING },
    pipefail: { about: "A pipe fails if any part of it fails (bash). By default `true`.", shape: SETTING },
    xtrace: { about: "Print each line before it runs.", shape: SETTING },
  },
});
