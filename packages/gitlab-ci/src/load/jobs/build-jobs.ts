import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping } from "@steps/source";
import { GLOBAL_KEYWORDS } from "../../keywords.ts";
import { MAX_JOBS } from "../limits.ts";
import type { CiReport } from "../../ci-rules.ts";
import type { LoadedJob } from "../loaded-pipeline.ts";
import { isMapping, isNull, stringOf } from "../nodes.ts";
import type { ShapeChecker } from "../schema/check-shape.ts";
import { checkJob, checkRoot } from "../schema/check-keywords.ts";
import { type Inherited, readDefaults, readInherited } from "./inherited.ts";
import { type NamedInstance, readParallel } from "./parallel.ts";

/** The jobs of a configuration. */
export interface Jobs {
  readonly jobs: ReadonlyMap<string, LoadedJob>;
  readonly groups: ReadonlyMap<string, readonly LoadedJob[]>;
}

interface State {
  readonly defaults: ReadonlyMap<string, YamlEntry>;
  readonly stages: readonly string[];
  readonly checker: ShapeChecker;
  readonly report: CiReport;
  readonly jobs: Map<string, LoadedJob>;
}

/** Keys at the top that are no job although nothing says so. */
const NO_JOBS: ReadonlySet<string> = new Set([...GLOBAL_KEYWORDS, "$schema"]);
/** More keys than a person writes are not looked at for a misspelling. */
const MAX_COMPARED = 50;
const WORK = ["script", "run", "trigger"] as const;

/** Makes the jobs of a merged configuration, with what they inherit, one for each instance. What is wrong is reported. */
export function buildJobs(
  root: YamlMapping,
  stages: readonly string[],
  { checker, report }: { readonly checker: ShapeChecker; readonly report: CiReport },
): Jobs {
  checkRoot(root, checker);
  const state: State = { defaults: readDefaults(root, report), stages, checker, report, jobs: new Map() };
  const groups = new Map<string, readonly LoadedJob[]>();
  for (const [name, entry] of root.entries) {
    if (name.startsWith(".") || NO_JOBS.has(name)) continue;
    const job = buildJob(name, entry, state);
    if (job !== undefined) groups.set(name, spread(job, state));
    if (state.jobs.size > MAX_JOBS) {
      report.error(entry.key, {
        code: "configuration-too-large",
        message: `The pipeline has more than ${MAX_JOBS} jobs`,
      });
      break;
    }
  }
  return { jobs: state.jobs, groups };
}

function buildJob(name: string, { key, value }: YamlEntry, state: State): LoadedJob | undefined {
  const { checker, report } = state;
  if (name.length > 255 || ["", "nil", "true", "false"].includes(name)) {
    report.error(key, { code: "invalid-job", message: `${quote(name)} cannot be the name of a job` });
  }
  if (!isMapping(value)) {
    reportNoJob(name, { key, value }, "it is not a mapping", report);
    return undefined;
  }
  const own = withoutNulls(value.entries);
  if (!WORK.some((keyword) => own.has(keyword))) {
    // The job that it extends could not be found, which was reported.
    if (own.has("extends") && report.hasErrors) return undefined;
    reportNoJob(name, { key, value }, `it has no "script", "run" or "trigger"`, report);
    return undefined;
  }
  checkJob(name, value, checker);
  const inherited = readInherited(own.get("inherit")?.value);
  return {
    name,
    groupName: name,
    key,
    own,
    keywords: withDefaults(own, inherited, state),
    stage: readStage(name, own, state),
    inheritsVariable: inherited.variables,
    instance: undefined,
  };
}

function withoutNulls(entries: ReadonlyMap<string, YamlEntry>): ReadonlyMap<string, YamlEntry> {
  const kept = [...entries].filter(([, { value }]) => !isNull(value));
  return kept.length === entries.size ? entries : new Map(kept);
}

function withDefaults(
  own: ReadonlyMap<string, YamlEntry>,
  inherited: Inherited,
  { defaults }: State,
): ReadonlyMap<string, YamlEntry> {
  const taken = [...defaults].filter(([keyword]) => !own.has(keyword) && inherited.default(keyword));
  return taken.length === 0 ? own : new Map([...taken, ...own]);
}

function reportNoJob(name: string, { key, value }: YamlEntry, why: string, report: CiReport): void {
  report.error(key, () => {
    const guess = nearest(name, GLOBAL_KEYWORDS);
    const keys = isMapping(value) ? [...value.entries.keys()].slice(0, MAX_COMPARED) : [];
    const misspelt = keys.find((own) => nearest(own, WORK) !== undefined);
    return {
      code: value.kind === "mapping" ? "missing-script" : "invalid-job",
      message: `${quote(name)} is neither a keyword nor a job: ${why}`,
      hint:
        guess !== undefined ? `Did you mean "${guess}"?` : misspelt && `Is ${quote(misspelt)} one of them, misspelt?`,
    };
  });
}

function readStage(name: string, own: ReadonlyMap<string, YamlEntry>, { stages, report }: State): string {
  const node = own.get("stage")?.value;
  const stage = node === undefined ? "test" : stringOf(node);
  if (stage === undefined || stages.includes(stage)) return stage ?? "test";
  report.error(node ?? own.values().next().value?.key, () => {
    const guess = nearest(stage, stages);
    const hint = guess === undefined ? `The stages are ${stages.map(quote).join(", ")}.` : `Did you mean "${guess}"?`;
    return {
      code: "unknown-stage",
      message: `The job ${quote(name)} is in the stage ${quote(stage)}, which does not exist`,
      hint,
    };
  });
  return stage;
}

function spread(job: LoadedJob, state: State): readonly LoadedJob[] {
  const parallel = job.own.get("parallel")?.value;
  const instances = parallel === undefined ? undefined : readParallel(job.name, parallel, state.report);
  const all = instances === undefined ? [job] : instances.map((instance) => ofInstance(job, instance));
  for (const one of all) {
    if (state.jobs.has(one.name)) {
      state.report.error(parallel ?? job.key, {
        code: "invalid-parallel",
        message: `Two jobs are called ${quote(one.name)}`,
      });
    }
    state.jobs.set(one.name, one);
  }
  return all;
}

function ofInstance(job: LoadedJob, { name, ...instance }: NamedInstance): LoadedJob {
  return { ...job, name, instance };
}
