import { quote } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";
import type { CompileContext } from "./compile-context.ts";
import { variableTemplate } from "./job-text.ts";
import { libraryStep, type Phase } from "./phase.ts";
import { isTrue } from "./script-phases.ts";

/** The content of a job's folder when it starts: nothing, a copy of the project that is the job's alone, or the project itself. */
export type JobFolder = "empty" | "copy" | "project";

const STRATEGIES: readonly string[] = ["fetch", "clone", "none", "empty"];
/** GitLab's default for a project. */
const DEPTH = 20;

/**
 * `get_sources`: the commit of the pipeline, as the variables say ([GIT_STRATEGY](https://docs.gitlab.com/ci/runners/configure_runners/#git-strategy)).
 * A copy of the project is what a checkout would make of it, so nothing is left to do there but to empty it; the project itself is
 * never touched. `undefined` where nothing is to be done.
 */
export function sourcesPhase(context: CompileContext, folder: JobFolder): Phase | undefined {
  const { job, variables, report } = context;
  const { values, nodes } = variables;
  const node = nodes.get("GIT_STRATEGY") ?? job.key;
  const written = values["GIT_STRATEGY"] ?? "";
  if (written !== "" && !STRATEGIES.includes(written)) {
    report.warn(node, {
      code: "invalid-value",
      message: `"GIT_STRATEGY" is ${quote(written)}, which is taken for "fetch"`,
      hint: `It is one of ${STRATEGIES.join(", ")}.`,
    });
  }
  const phase = (inputs: Readonly<Record<string, Value>>): Phase => {
    return { name: "get_sources", step: libraryStep("checkout"), inputs, node };
  };
  if (written === "none") return undefined;
  if (written === "empty" && folder === "project") {
    report.warn(node, {
      code: "not-supported",
      message: `"GIT_STRATEGY" is "empty", and the project itself is not emptied`,
    });
  }
  if (folder === "project") return undefined;
  if (written === "empty") return phase({ strategy: "empty", ...(folder === "copy" ? { disposable: true } : {}) });
  if (folder === "copy" || !Object.hasOwn(values, "CI_REPOSITORY_URL")) return undefined;
  return phase({ ...(written === "clone" ? { strategy: "clone" } : {}), ...checkoutInputs(values) });
}

type Values = CompileContext["variables"]["values"];

function checkoutInputs(values: Values): Readonly<Record<string, Value>> {
  const depth = numberOf(values, "GIT_DEPTH") ?? DEPTH;
  const attempts = numberOf(values, "GET_SOURCES_ATTEMPTS") ?? 1;
  const refspec = depth === 0 ? undefined : refspecOf(values);
  const submodules = submoduleInputs(values);
  return {
    url: variableTemplate("CI_REPOSITORY_URL"),
    ...given(values, { sha: "CI_COMMIT_SHA", ref: "CI_COMMIT_REF_NAME" }),
    ...(depth === 0 ? {} : { depth }),
    ...(refspec === undefined ? {} : { refspecs: [refspec] }),
    ...(isFalse(values["GIT_CHECKOUT"]) ? { checkout: false } : {}),
    ...given(values, { clean_flags: "GIT_CLEAN_FLAGS", fetch_flags: "GIT_FETCH_EXTRA_FLAGS" }),
    ...(submodules === undefined ? {} : { submodules }),
    ...(isTrue(values["GIT_LFS_SKIP_SMUDGE"]) ? {} : { lfs: true }),
    ...(attempts > 1 ? { attempts } : {}),
  };
}

// With a depth only what the pipeline is of is fetched, as GitLab's server asks for it.
function refspecOf(values: Values): string | undefined {
  if (!Object.hasOwn(values, "CI_COMMIT_REF_NAME")) return undefined;
  const ref = variableTemplate("CI_COMMIT_REF_NAME");
  if (Object.hasOwn(values, "CI_COMMIT_TAG")) return `+refs/tags/${ref}:refs/tags/${ref}`;
  return `+refs/heads/${ref}:refs/remotes/origin/${ref}`;
}

function submoduleInputs(values: Values): Readonly<Record<string, Value>> | undefined {
  const strategy = values["GIT_SUBMODULE_STRATEGY"] ?? "";
  if (strategy !== "normal" && strategy !== "recursive") return undefined;
  const depth = numberOf(values, "GIT_SUBMODULE_DEPTH");
  const paths = (values["GIT_SUBMODULE_PATHS"] ?? "").split(/\s+/).filter((path) => path !== "");
  return {
    strategy,
    ...(depth === undefined ? {} : { depth }),
    ...(paths.length === 0 ? {} : { paths }),
    ...given(values, { update_flags: "GIT_SUBMODULE_UPDATE_FLAGS" }),
  };
}

/** The inputs whose variables the job has. */
function given(values: Values, names: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const known = Object.entries(names).filter(([, variable]) => (values[variable] ?? "") !== "");
  return Object.fromEntries(known.map(([input, variable]) => [input, variableTemplate(variable)]));
}

function numberOf(values: Values, name: string): number | undefined {
  const text = values[name] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function isFalse(value: string | undefined): boolean {
  return value !== undefined && ["0", "f", "F", "FALSE", "false", "False"].includes(value);
}
