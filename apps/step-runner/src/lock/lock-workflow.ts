import { lockedOf } from "@steps/engine/components";
import { compileWorkflowJob, listWorkflowJobs, type WorkflowOptions } from "@steps/github-compiler";
import { planWorkflow } from "@steps/github-compiler/pipeline";
import { hasErrors, type Source } from "@steps/model/diagnostic";
import { showDiagnostics } from "../input/diagnose.ts";
import { CalledWorkflows } from "../pipeline/github/called-workflows.ts";
import { checkCalls } from "../pipeline/github/check-calls.ts";
import type { TextInput, TextOptions } from "../input/read-input.ts";
import { readSource } from "../files/read-source.ts";
import { projectOf, workflowFacts } from "../input/read-workflow-job.ts";
import type { LockInputs, Locking } from "./lock-inputs.ts";

/** Reads the jobs of a workflow and of all that it calls, and the components that these came from. */
export async function lockWorkflow(
  options: TextOptions,
  path: string,
  { engine, signal }: Locking,
): Promise<LockInputs> {
  const baseDir = options.workDir ?? projectOf(path);
  const source = readSource(path);
  const facts = workflowFacts(options, source, baseDir);
  const { variables: _variables, ...ofJobs } = facts;
  const workflows = new CalledWorkflows(engine, () => undefined);
  const { calls, diagnostics } = planWorkflow({ source, ...facts });
  const origin = { dir: baseDir, name: "" };
  const problems = [
    ...diagnostics,
    ...(await checkCalls({ workflows, facts, signal }, calls, { name: source.name, origin })),
  ];
  showDiagnostics({}, problems);
  // The mistakes were shown, and nothing is locked.
  if (hasErrors(problems)) return { inputs: [{ name: path, specDefinition: undefined, baseDir }], included: [] };
  const called = workflows.found.map((found) => found.source);
  return {
    inputs: [
      ...jobsOf(source, { ...ofJobs, baseDir }),
      ...called.flatMap((one) => jobsOf(one, { ...ofJobs, isCalled: true, hasUnknownInputs: true, baseDir })),
    ],
    included: workflows.resources.flatMap((resource) => lockedOf(resource) ?? []),
  };
}

// The first instance of a matrix is enough, since all have the same steps.
function jobsOf(source: Source, { baseDir, ...options }: WorkflowOptions & { readonly baseDir: string }): TextInput[] {
  const own = listWorkflowJobs(source, options).jobs.filter(({ isReusable }) => !isReusable);
  return own.map(({ id, instances }) => {
    const { specDefinition, positionOf } = compileWorkflowJob(source, {
      ...options,
      jobName: instances[0]?.choice ?? id,
    });
    return { name: `${source.name} ${id}`, specDefinition, positionOf, baseDir };
  });
}
