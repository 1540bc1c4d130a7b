import type { Definition_GithubJson, Step_GithubJson } from "../gen/step-json.ts";
import { mapObject, type Value } from "../value/value.ts";

/**
 * The part of a definition that only GitHub Actions have. The texts in it, and those of the definition that it belongs
 * to, hold expressions in GitHub's language instead of ours.
 */
export interface GithubPart {
  /**
   * `run`: a script, whose shell is `exec.command` (`{0}` alone: the default shell). `node12` … `node24`: `exec.command` is the
   * same word and a file in the manifest's folder. `docker`: an image. `composite`: a list of steps. `native`: a program of the
   * runner's own in the place of an action. `job`: a job of a workflow.
   */
  readonly using: string;
  readonly script?: string;
  /** Files, or for `docker` entrypoints, that run before all and after all steps of the job. */
  readonly pre?: string;
  readonly preIf?: string;
  readonly post?: string;
  readonly postIf?: string;
  /** `docker`: `docker://image`, or the path of a Dockerfile from the manifest's folder. */
  readonly image?: string;
  readonly entrypoint?: string;
  readonly args?: readonly string[];
  /** The warnings for callers that set deprecated inputs, by input name. */
  readonly deprecatedInputs?: Readonly<Record<string, string>>;
  readonly requiredInputs?: readonly string[];
  /** `job`: `strategy`, `matrix`, `needs`, `inputs`, `vars`. */
  readonly contexts?: Readonly<Record<string, Value>>;
  /** `job`: `{image, env, ports, volumes, options, credentials}`. */
  readonly container?: Value;
  /** `job`: the same by name. */
  readonly services?: Readonly<Record<string, Value>>;
}

/** The part of an invocation that only GitHub Actions have: texts in GitHub's expression language. */
export interface GithubInvocation {
  /** The name of the step as it is shown: `Run tests on ${{ matrix.os }}`. */
  readonly title?: string;
  /** Absent: `success()`. */
  readonly if?: string;
  /** Evaluated when the step has failed. */
  readonly continueOnError?: string;
  readonly timeoutMinutes?: string;
}

const TEXTS = ["script", "pre", "preIf", "post", "postIf", "image", "entrypoint"] as const;
const INVOCATION_TEXTS = ["title", "if", "continueOnError", "timeoutMinutes"] as const;

/** The baseline message of a GitHub part; what is not said is left out. */
export function encodeGithubPart(part: GithubPart): Definition_GithubJson {
  const { using, args, deprecatedInputs, requiredInputs, contexts, container, services } = part;
  return {
    using,
    ...texts(part, TEXTS),
    ...(args === undefined ? {} : { args: { words: [...args] } }),
    ...(deprecatedInputs === undefined ? {} : { deprecatedInputs }),
    ...(requiredInputs === undefined ? {} : { requiredInputs: [...requiredInputs] }),
    ...(contexts === undefined ? {} : { contexts }),
    ...(container === undefined ? {} : { container }),
    ...(services === undefined ? {} : { services }),
  };
}

/** The way back from `encodeGithubPart()`. */
export function decodeGithubPart(json: Definition_GithubJson): GithubPart {
  const { using = "", args, deprecatedInputs, requiredInputs, contexts, container, services } = json;
  return {
    using,
    ...texts(json, TEXTS),
    args: args && (args.words ?? []),
    deprecatedInputs: deprecatedInputs && mapObject(deprecatedInputs, String),
    requiredInputs,
    contexts: contexts && mapObject(contexts, (value) => value),
    container,
    services: services && mapObject(services, (value) => value),
  };
}

/** The baseline message of an invocation's GitHub part. */
export function encodeGithubInvocation(invocation: GithubInvocation): Step_GithubJson {
  return texts(invocation, INVOCATION_TEXTS);
}

/** The way back from `encodeGithubInvocation()`. */
export function decodeGithubInvocation(json: Step_GithubJson): GithubInvocation {
  return texts(json, INVOCATION_TEXTS);
}

function texts<Name extends string>(
  from: { readonly [K in Name]?: string | undefined },
  names: readonly Name[],
): { [K in Name]?: string } {
  const found: { [K in Name]?: string } = {};
  for (const name of names) if (from[name] !== undefined && from[name] !== "") found[name] = from[name];
  return found;
}
