import type { User } from "../kit/user.ts";
import type { Random } from "../kit/random.ts";
import type { Entry, Places } from "./contents.ts";

/** The user, the places and the random choices from which an archive is made. */
export interface Making {
  readonly user: User;
  readonly places: Places;
  readonly random: Random;
  /** Called in the end. */
  readonly atEnd: (dispose: () => Promise<void>) => void;
}

/** A kind of archive: how one with given contents is made, and what is wrong with this kind alone. */
export interface Kind {
  readonly name: string;
  /** Makes the archive, with a step in it that runs; gives its reference. */
  readonly make: (entries: readonly Entry[], making: Making) => Promise<string>;
  readonly specials: Readonly<Record<string, (making: Making) => Promise<string>>>;
}

/** The step that every archive has. */
export const STEP = "spec: {}\n---\nexec: {command: [sh, -c, 'echo it ran']}\n";
