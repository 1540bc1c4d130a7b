import { resolve } from "node:path";
import { converted, flag, grouped, type OptionsOf, UsageError } from "@steps/console";

/** Flags that say where the files come from that a CI file includes. */
export const includeFlags = grouped("Included files", {
  "project-url": flag.text({
    placeholder: "URL",
    summary:
      "The URL of the project, whose server other projects are included from; that of the remote origin by default",
    env: "STEP_RUNNER_PROJECT_URL",
  }),
  "include-map": converted(
    flag.list({
      placeholder: "PROJECT=FOLDER",
      summary:
        "Take files and components of a project (group/name or host/group/name) from a folder; template=FOLDER: those of GitLab; repeat for more",
      env: "STEP_RUNNER_INCLUDE_MAP",
    }),
    readMap,
  ),
  "include-http": flag.boolean({
    summary: "Include remote files over plain http, too, though they have no integrity",
    env: "STEP_RUNNER_INCLUDE_HTTP",
  }),
});

/** The options that say where included files come from. */
export type IncludeOptions = OptionsOf<typeof includeFlags>;

function readMap(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const split = text.indexOf("=");
      if (split < 1 || split === text.length - 1)
        throw new UsageError(`--include-map is not PROJECT=FOLDER: "${text}"`);
      return [text.slice(0, split), resolve(text.slice(split + 1))];
    }),
  );
}
