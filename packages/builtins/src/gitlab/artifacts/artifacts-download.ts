import { isStepsError, messageOf, type Value } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { BuiltinError } from "../../builtin-error.ts";
import { type BuiltinPlace, type Inputs, textOf } from "../../images/builtin-images.ts";
import { extractArchive } from "../files/extract-archive.ts";
import { countFiles, type Exported, type GitlabResult, objectList, optionalText, warn } from "../gitlab-step.ts";
import { entryPath, openArchive, type StoreEntry } from "../store/entry-store.ts";
import { isExpired } from "./expiry.ts";
import { ARTIFACT_FILES, readVariables } from "./artifact-store.ts";

/**
 * `gitlab/artifacts-download`: unpacks what earlier jobs have kept into the project, in the order of the list, and exports
 * the variables of their dotenv reports.
 */
export async function downloadArtifacts(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  if (optionalText(inputs, "server_url") !== "") {
    const { downloadFromServer } = await import("./fetch-files.ts");
    return await downloadFromServer(inputs, place);
  }
  const store = textOf(inputs, "artifacts_dir");
  const exports: Record<string, Exported> = {};
  let files = 0;
  for (const source of objectList(inputs["sources"] ?? [], "sources")) {
    const job = textOf(source, "job");
    try {
      files += await downloadOne(entryPath(store, job), { source, job, exports, place });
    } catch (error) {
      const problem = `Cannot download the artifacts of job "${job}": ${messageOf(error)}`;
      const hint = isStepsError(error) ? error.hint : undefined;
      throw new BuiltinError("BUILTIN_FAILED", problem, { cause: error, hint });
    }
  }
  const variables = Object.fromEntries(Object.entries(exports).map(([name, { value }]) => [name, value]));
  return { outputs: { files, variables }, exports };
}

interface Download {
  readonly source: Readonly<Record<string, Value>>;
  readonly job: string;
  readonly exports: Record<string, Exported>;
  readonly place: BuiltinPlace;
}

async function downloadOne(path: string, { source, job, exports, place }: Download): Promise<number> {
  const opened = await openArchive(path, ARTIFACT_FILES.archive);
  if (opened === undefined) {
    if (source["required"] === true) {
      throw new BuiltinError("BUILTIN_FAILED", "it has kept none here", { hint: "Run that job before this one." });
    }
    place.log(`Job "${job}" has kept no artifacts here`);
    return 0;
  }
  const { entry, file } = opened;
  try {
    if (isExpired(entry.metadata)) {
      if (source["required"] === true) throw new BuiltinError("BUILTIN_FAILED", "their time is over");
      warn(place, `The artifacts of job "${job}" are not unpacked: their time is over`);
      return 0;
    }
    const digest = optionalText(entry.metadata, "digest");
    const expected = optionalText(source, "digest");
    if (expected !== "" && expected !== digest) {
      throw new BuiltinError("BUILTIN_FAILED", `its digest is ${digest}, and not ${expected}`);
    }
    const count =
      file === undefined ? 0 : await extractArchive(file, { root: place.workDir, modifiedAt: timeOf(entry) });
    place.log(`Unpacked ${countFiles(count)} of job "${job}"`);
    addVariables(entry, exports, place);
    return count;
  } finally {
    await file?.close();
  }
}

function timeOf({ metadata }: StoreEntry): Date {
  const time = new Date(optionalText(metadata, "createdAt"));
  return Number.isNaN(time.getTime()) ? new Date() : time;
}

function addVariables({ dir }: StoreEntry, exports: Record<string, Exported>, place: BuiltinPlace): void {
  const names: string[] = [];
  for (const [name, value] of Object.entries(readVariables(dir))) {
    if (!NAME_PATTERN.test(name)) {
      warn(place, `The variable ${name} is not set: its name begins with a digit`);
      continue;
    }
    exports[name] = { value, isSensitive: false };
    names.push(name);
  }
  if (names.length > 0) place.log(`Set ${names.join(", ")}`);
}
