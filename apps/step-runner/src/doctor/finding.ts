/** One thing that was looked at. */
export interface Finding {
  /** Kebab-case and stable: `node`, `git`, `containers`. */
  readonly name: string;
  /** `problem`: steps cannot run like this. `missing`: something that is only needed for some work is not there. */
  readonly state: "ok" | "missing" | "problem";
  /** The thing that was found. */
  readonly found: string;
  /** The consequence for steps. */
  readonly meaning: string;
}
