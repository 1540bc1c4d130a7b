import { type CaseOptions, runCase } from "./run-case.ts";
import type { CaseResult, TestCase } from "./test-case.ts";

/**
 * Runs cases, at most `jobs` of them at once, and tells each as soon as it and all before it have ended, so that a report has the
 * order of the files.
 */
export async function runCases(
  cases: readonly TestCase[],
  jobs: number,
  options: CaseOptions,
  tell: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  let next = 0;
  let told = 0;
  const work = async (): Promise<void> => {
    while (next < cases.length && !options.signal.aborted) {
      const at = next++;
      results[at] = await runCase(cases[at] as TestCase, options);
      for (let ready = results[told]; ready !== undefined; ready = results[told]) {
        told += 1;
        tell(ready);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, cases.length) }, work));
  return results.filter((result) => result !== undefined);
}
