import { UsageError } from "@steps/console";
import { nearest } from "@steps/model/diagnostic";
import { type GraphJob, withNeeds } from "@steps/pipeline";

/** Names that are listed in a message. */
const MAX_NAMES = 20;

/** The names of what there is to choose from, with the jobs that each of them stands for. */
export type Choices = ReadonlyMap<string, readonly string[]>;

/** The ids of the jobs that names stand for. @throws {UsageError} for a name that nothing has */
export function idsOf(what: string, names: readonly string[], choices: Choices): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => {
      const found = choices.get(name);
      if (found !== undefined) return found;
      const guess = nearest(name, choices.keys());
      const known = [...choices.keys()].slice(0, MAX_NAMES).join(", ");
      const list = `There are ${known}${choices.size > MAX_NAMES ? ", …" : ""}.`;
      throw new UsageError(
        `There is no ${what} "${name}"`,
        guess === undefined ? list : `Did you mean "${guess}"? ${list}`,
      );
    }),
  );
}

/** The jobs that were chosen with all that they need; all of them when nobody chose. */
export function chooseJobs<Job extends GraphJob>(
  jobs: readonly Job[],
  ids: ReadonlySet<string> | undefined,
): readonly Job[] {
  return ids === undefined ? jobs : withNeeds(jobs, ({ id }) => ids.has(id));
}
