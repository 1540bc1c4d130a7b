import { checkOptionNames, type OptionNames, type Value } from "@steps/model";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { readYaml, Report, type YamlMapping, type YamlNode } from "@steps/source";
import { type Answerers, answerLater, answerNow, type Asking } from "./asking.ts";
import { resolveExtends } from "./extends.ts";
import { expandFile } from "./include/expand-includes.ts";
import type { Loading } from "./include/loading.ts";
import { buildJobs } from "./jobs/build-jobs.ts";
import { checkNeeds } from "./jobs/check-needs.ts";
import { readStages } from "./jobs/stages.ts";
import { MAX_NODES } from "./limits.ts";
import type { FileContext } from "./load-file.ts";
import type { LoadedPipeline } from "./loaded-pipeline.ts";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import { createMergeBudget } from "./merge.ts";
import { measure } from "./nodes.ts";
import { readDocument } from "./read-document.ts";
import { resolveReferences } from "./references.ts";
import { createShapeChecker } from "./schema/check-shape.ts";

/** The settings and functions that a pipeline is loaded with. */
export interface LoadPipelineOptions extends Answerers {
  /** The project that local includes of the file are looked up in; by default the project of the pipeline, as it is. */
  readonly context?: FileContext | undefined;
  /** The inputs that the pipeline is given, by name; a number for an input of type number. */
  readonly inputs?: Readonly<Record<string, Value>> | undefined;
  /** The inputs as texts instead, as on a command line: each is read as the type that the header declares. */
  readonly inputTexts?: Readonly<Record<string, string>> | undefined;
  /** The variables that includes and `expand_vars` may use, by name; one that is missing is empty in an include. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Whether the file itself may include artifacts, as the list of `trigger:include` may. Default: no. */
  readonly includesArtifacts?: boolean | undefined;
  /** The names of variables that `expand_vars` may not show. */
  readonly masked?: ReadonlySet<string> | undefined;
}

/** The outcome of loading. */
export interface LoadPipelineResult {
  /** `undefined` when there are errors. */
  readonly pipeline: LoadedPipeline | undefined;
  /** The same, or of a configuration with errors the part that could be read: to find more of them, and not to run. */
  readonly readable: LoadedPipeline | undefined;
  /** In the order of the files, and in each in the order of the text. */
  readonly diagnostics: readonly CiDiagnostic[];
  /** Every file that was read, that of the pipeline first. */
  readonly sources: readonly Source[];
}

/** Loads a file that includes no other: each include is an error. */
const withoutFiles: LoadPipelineOptions = {
  loadFile: () => ({ problem: "Other files are out of reach here" }),
};

const OPTION_NAMES: OptionNames<LoadPipelineOptions> = {
  context: true,
  inputs: true,
  inputTexts: true,
  variables: true,
  includesArtifacts: true,
  masked: true,
  loadFile: true,
  listFiles: true,
  includeRules: true,
  matchPattern: true,
  inputCondition: true,
};

/**
 * Loads a `.gitlab-ci.yml` with all that it includes, as GitLab does before it makes a pipeline: inputs are filled in file
 * by file, what is included is merged under what includes it, then come `extends`, `!reference`, `default` and `parallel`
 * ([CI/CD YAML syntax](https://docs.gitlab.com/ci/yaml/)). What is wrong with the files is a diagnostic; what a function of
 * the options throws is passed on.
 *
 * @param options - How to get at what the file includes; without it an include is an error.
 */
export function loadPipeline(source: Source, options: LoadPipelineOptions = withoutFiles): Promise<LoadPipelineResult> {
  checkOptionNames("loadPipeline()", options, OPTION_NAMES);
  return answerLater(load(source, options), options);
}

/** Does the same at once, with functions that give no promises. @throws {TypeError} if one gives a promise */
export function loadPipelineNow(source: Source, options: LoadPipelineOptions = withoutFiles): LoadPipelineResult {
  checkOptionNames("loadPipelineNow()", options, OPTION_NAMES);
  return answerNow(load(source, options), options);
}

function* load(source: Source, options: LoadPipelineOptions): Asking<LoadPipelineResult> {
  const report: CiReport = new Report();
  const found = new Set([source]);
  const root = yield* readRoot(source, options, { report, sources: found });
  const sources = [...found];
  const readable = root === undefined ? undefined : build(root, sources, report);
  const diagnostics = sortDiagnostics(report.finish(), sources);
  return { pipeline: report.hasErrors ? undefined : readable, readable, diagnostics, sources };
}

function* readRoot(
  source: Source,
  {
    context = {},
    inputs,
    inputTexts,
    variables = {},
    masked = new Set(),
    includesArtifacts = false,
  }: LoadPipelineOptions,
  { report, sources }: Pick<Loading, "report" | "sources">,
): Asking<YamlMapping | undefined> {
  const document = readDocument(source, report);
  if (document === undefined) return undefined;
  const budget = createMergeBudget(report);
  const loaded: Loading["loaded"] = new Map();
  const read: Loading["read"] = new Map([[source, document]]);
  const state = { report, budget, sources, loaded, read, variables, masked, includesArtifacts };
  const loading: Loading = { ...state, count: 0, length: source.text.length, isFull: false };
  const given = inputs === undefined ? undefined : inputsNode(inputs);
  const file = { document, context, component: undefined, inputs: given, texts: inputTexts, at: undefined, path: [] };
  const merged = yield* expandFile(file, loading);
  // Without a file or an input, much of what follows would be wrong for that reason alone.
  if (report.hasErrors) return undefined;
  const extended = resolveExtends(merged, budget);
  // Looking at what was merged so far would cost more than merging it.
  return budget.left < 0 ? undefined : resolveReferences(extended, report);
}

// As JSON is YAML, they are read as if they stood in a file.
function inputsNode(inputs: Readonly<Record<string, Value>>): YamlNode | undefined {
  return readYaml({ name: "<inputs>", text: JSON.stringify(inputs) }).documents[0];
}

function build(root: YamlMapping, sources: readonly Source[], report: CiReport): LoadedPipeline | undefined {
  if (measure(root).size > MAX_NODES) {
    report.error(undefined, {
      code: "configuration-too-large",
      message: `The configuration has more than ${MAX_NODES} values`,
    });
    return undefined;
  }
  const { entries } = root;
  const stages = readStages(entries.get("stages")?.value, report);
  const { jobs, groups } = buildJobs(root, stages, { checker: createShapeChecker(report), report });
  checkNeeds({ jobs, groups }, report);
  const variables = entries.get("variables")?.value;
  const workflow = entries.get("workflow")?.value;
  return { root, stages, jobs, groups, variables, workflow, sources };
}

/** Sorts diagnostics by the files, which must be in the order of their texts in each; those without a place come first. */
export function sortDiagnostics<Code extends string>(
  diagnostics: readonly Diagnostic<Code>[],
  sources: readonly Source[],
): readonly Diagnostic<Code>[] {
  const ranks = new Map(sources.map((source, index) => [source, index]));
  const rank = ({ code, position }: Diagnostic): number => {
    if (code === "too-many-problems") return sources.length;
    return position === undefined ? -1 : (ranks.get(position.source) ?? -1);
  };
  return diagnostics.toSorted((a, b) => rank(a) - rank(b));
}
