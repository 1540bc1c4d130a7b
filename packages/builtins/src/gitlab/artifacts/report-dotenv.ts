import { type BuiltinPlace, type Inputs, textOf } from "../../images/builtin-images.ts";
import { collectFiles } from "../files/collect-files.ts";
import { type GitlabResult, stringList, warn } from "../gitlab-step.ts";
import { entryPath, publishEntry } from "../store/entry-store.ts";
import { ARTIFACT_FILES, storeVariables } from "./artifact-store.ts";
import { readDotenvFiles } from "./parse-dotenv.ts";

/** `gitlab/report-dotenv`: keeps the variables of a dotenv report beside the artifacts of the job, for later jobs. */
export async function reportDotenv(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const job = textOf(inputs, "job");
  const artifactsDir = textOf(inputs, "artifacts_dir");
  const entry = entryPath(artifactsDir, job);
  const files = collectFiles({
    root: place.workDir,
    paths: stringList(inputs["files"] ?? [], "files"),
    exclude: [],
    stores: [artifactsDir],
    log: place.log,
    warn: (line) => warn(place, line),
  });
  const variables = readDotenvFiles(files.filter(({ type }) => type === "file"));
  const names = Object.keys(variables);
  await publishEntry(entry, {
    keep: [ARTIFACT_FILES.archive, ARTIFACT_FILES.reports, ARTIFACT_FILES.release],
    async write(dir, present) {
      storeVariables(dir, variables);
      return present?.metadata ?? { job, digest: "", size: 0, files: 0, createdAt: new Date().toISOString() };
    },
  });
  place.log(names.length === 0 ? "The report has no variables" : `Kept for later jobs: ${names.join(", ")}`);
  return { outputs: { variables, count: names.length } };
}
