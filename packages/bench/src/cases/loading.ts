import { planPipeline } from "@steps/gitlab-ci/pipeline";
import { loadPipeline } from "@steps/gitlab-ci/load";
import { manyJobs } from "../gitlab-ci-local/project.ts";
import { atMost, interleave, type Row } from "../measure.ts";

const FEW = 1000;
const MANY = 10_000;

/** Loads and plans a configuration of GitLab with ten times the jobs: the time for each may hardly grow. */
export async function loading(): Promise<Row[]> {
  const few = manyJobs(FEW);
  const many = manyJobs(MANY);
  const [floor = 0, measured = 0] = await interleave(5, [() => load(few, FEW), () => load(many, MANY)]);
  const numbers = { floor: (floor * MANY) / FEW, measured, limit: 1.5 };
  return [atMost(`loading and planning ${MANY} jobs : ${MANY / FEW} × ${FEW} jobs`, numbers)];
}

async function load(files: Readonly<Record<string, string>>, count: number): Promise<number> {
  const sourceOf = (name: string) => ({ name, text: files[name] ?? "" });
  const start = performance.now();
  const { pipeline } = await loadPipeline(sourceOf(".gitlab-ci.yml"), {
    loadFile: ({ path, context }) => ({ source: sourceOf(path), context }),
  });
  if (pipeline === undefined) throw new Error("The configuration has errors");
  const variables = new Map([["CI_COMMIT_BRANCH", { value: "main", isRaw: true, isMasked: false }]]);
  const situation = { source: "push", ref: "main" };
  const { judged } = await planPipeline(pipeline, { situation, sources: () => ({ pipeline: variables }) });
  if (judged?.jobs.size !== count) throw new Error(`${judged?.jobs.size} jobs are planned`);
  return performance.now() - start;
}
