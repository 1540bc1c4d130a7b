import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isStepsError, messageOf, type Value } from "@steps/model";
import type { RunnerApi } from "@steps/runner-api/client";
import { BuiltinError } from "../../builtin-error.ts";
import { type BuiltinPlace, type Inputs, invalid, textOf } from "../../images/builtin-images.ts";
import { extractArchive } from "../files/extract-archive.ts";
import { countFiles, type GitlabResult, objectList, objectOf, optionalText } from "../gitlab-step.ts";
import { openJobServer, serverFailure } from "./job-server.ts";

/** Unpacks what the server of a job keeps of other jobs. Their variables come with the job itself. */
export async function downloadFromServer(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const tokens = objectOf(inputs["tokens"] ?? {}, "tokens");
  const api = await openJobServer(inputs, place);
  const dir = mkdtempSync(join(tmpdir(), "step-artifacts-"));
  let files = 0;
  try {
    for (const source of objectList(inputs["sources"] ?? [], "sources")) {
      const job = textOf(source, "job");
      const id = numberOf(source);
      try {
        const count = await fetchOne(api, {
          id,
          token: optionalText(tokens, String(id)),
          file: join(dir, String(id)),
          place,
        });
        place.log(`Unpacked ${countFiles(count)} of job "${job}" (${id})`);
        files += count;
      } catch (error) {
        const hint = isStepsError(error) ? error.hint : undefined;
        const problem = `Cannot download the artifacts of job "${job}" (${id}): ${messageOf(error)}`;
        throw new BuiltinError("BUILTIN_FAILED", problem, { cause: error, hint });
      }
    }
  } finally {
    api.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return { outputs: { files, variables: {} } };
}

interface Fetched {
  readonly id: number;
  readonly token: string;
  readonly file: string;
  readonly place: BuiltinPlace;
}

async function fetchOne(api: RunnerApi, { id, token, file, place }: Fetched): Promise<number> {
  const answer = await api.downloadArtifact(id, { token });
  if (answer.bytes === undefined) throw serverFailure("Downloading them", answer);
  await pipeline(answer.bytes, createWriteStream(file, { mode: 0o600 }));
  const archive = await open(file);
  try {
    return await extractArchive(archive, { root: place.workDir });
  } finally {
    await archive.close();
    rmSync(file, { force: true });
  }
}

function numberOf(source: Readonly<Record<string, Value>>): number {
  const { id } = source;
  if (typeof id === "number" && Number.isSafeInteger(id) && id > 0) return id;
  throw invalid("sources: a server wants the id of each job");
}
