import { hasProgram } from "@steps/testkit";
import { describe, test } from "vitest";
import { type Case, readCases, readExpectedFailures } from "./read-cases.ts";

export interface DefineOptions {
  /** Which of the cases; all of the kind unless given. */
  readonly where?: (item: Case) => boolean;
  /** Starts several at once: for cases that wait for processes. */
  readonly isConcurrent?: boolean;
}

/**
 * Makes a test of each case of a kind. A case that is expected to fail has to: when it passes, it is to be taken off the
 * list.
 */
export function defineCases(
  kind: string,
  check: (item: Case) => void | Promise<void>,
  options: DefineOptions = {},
): void {
  const all = readCases();
  const failures = readExpectedFailures(all);
  const { where = () => true, isConcurrent = false } = options;
  describe(`${kind} cases`, { concurrent: isConcurrent }, () => {
    for (const item of all.filter((each) => each.kind === kind && where(each))) {
      const missing = programsOf(item).find((name) => !hasProgram(name));
      test.skipIf(missing !== undefined)(item.id, () => checkExpected(item, check, failures.get(item.id)));
    }
  });
}

async function checkExpected(
  item: Case,
  check: (item: Case) => void | Promise<void>,
  reason: string | undefined,
): Promise<void> {
  try {
    await check(item);
  } catch (error) {
    if (reason === undefined) throw error;
    return;
  }
  if (reason !== undefined) throw new Error(`It passes: take it off expected-failures.yml (${reason})`);
}

// Programs without which a case cannot run: those it names, and git for its repositories.
function programsOf({ data }: Case): string[] {
  const { requires = [], git } = data;
  if (!Array.isArray(requires)) throw new Error("requires is a list of programs");
  return [...requires.map(String), ...(git === undefined ? [] : ["git"])];
}
