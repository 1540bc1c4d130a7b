import { statSync } from "node:fs";
import { resolve } from "node:path";
import { converted, flag, grouped, type OptionsOf, UsageError } from "@steps/console";

/** Flags that say what jobs of other pipelines have left. */
export const needsFlags = grouped("Included files", {
  "needs-map": converted(
    flag.list({
      placeholder: "PROJECT:JOB=FOLDER",
      summary: "Take the artifacts of a job of another project from a folder, for needs:project; repeat for more",
    }),
    readMap,
  ),
});

/** The options that say what jobs of other pipelines have left: folders by `group/name:job`. */
export type NeedsOptions = OptionsOf<typeof needsFlags>;

function readMap(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, folder] = /^([^:=]+:.+?)=(.+)$/.exec(text) ?? [];
      if (name === undefined || folder === undefined)
        throw new UsageError(`--needs-map is not PROJECT:JOB=FOLDER: "${text}"`);
      const path = resolve(folder);
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw new UsageError(`--needs-map ${name}: "${folder}" is no folder`);
      return [name, path];
    }),
  );
}
