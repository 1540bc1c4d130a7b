import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Value } from "@steps/model";
import type { WrittenZip, ZipSource } from "@steps/transfer/archive";
import { type BuiltinPlace, type Inputs, invalid, textOf } from "../../images/builtin-images.ts";
import { countFiles, formatBytes, optionalText } from "../gitlab-step.ts";
import { openJobServer, serverFailure } from "./job-server.ts";

/** Files that go to a server. */
export interface SentFiles {
  readonly place: BuiltinPlace;
  /** At least one. */
  readonly files: readonly ZipSource[];
  /** `archive`, or the type of a report. */
  readonly type: string;
  /** Packs the files into an archive at a path. */
  readonly pack: (path: string) => Promise<WrittenZip>;
}

/** Uploads files to the server of the job: an archive, or a report as it is or packed. Gives the outputs of the step. */
export async function sendFiles(inputs: Inputs, sent: SentFiles): Promise<Readonly<Record<string, Value>>> {
  const { place, files, type } = sent;
  const jobId = inputs["job_id"];
  if (typeof jobId !== "number" || !Number.isSafeInteger(jobId) || jobId <= 0)
    throw invalid("job_id is no number of a job");
  const format = type === "archive" ? "zip" : optionalText(inputs, "format") || "gzip";
  const dir = mkdtempSync(join(tmpdir(), "step-artifacts-"));
  const api = await openJobServer(inputs, place);
  try {
    const file = join(dir, "file");
    const digest = format === "zip" ? `sha256:${(await sent.pack(file)).digest}` : "";
    if (format !== "zip") await writeReport(file, { files, format });
    const { size } = await stat(file);
    const answer = await api.uploadArtifact(jobId, {
      token: textOf(inputs, "token"),
      fileName: fileNameOf(inputs, type, format),
      artifact_type: type,
      artifact_format: format,
      expire_in: optionalText(inputs, "expire_in"),
      open: () => createReadStream(file),
    });
    if (answer.status !== 201) throw serverFailure("Uploading artifacts", answer);
    place.log(`Uploaded ${countFiles(files.length)} as "${type}": ${formatBytes(size)}`);
    return { archive: "", digest, size, files: files.length };
  } finally {
    api.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function fileNameOf(inputs: Inputs, type: string, format: string): string {
  const name = optionalText(inputs, "name");
  const base = type === "archive" ? name.replaceAll("/", "-") || "artifacts" : type;
  return `${base}${ENDINGS[format] ?? ""}`;
}

const ENDINGS: Readonly<Record<string, string>> = { zip: ".zip", gzip: ".gz" };

// As GitLab's runner has it: packed files stand one after the other, and of files as they are there is one.
async function writeReport(
  target: string,
  { files, format }: { files: readonly ZipSource[]; format: string },
): Promise<void> {
  const reports = files.filter((file) => file.type === "file");
  if (format === "raw" && reports.length > 1)
    throw invalid(`format "raw" takes one file, and there are ${reports.length}`);
  for (const { path } of reports) {
    const out = createWriteStream(target, { flags: "a", mode: 0o600 });
    await (format === "gzip"
      ? pipeline(createReadStream(path), createGzip(), out)
      : pipeline(createReadStream(path), out));
  }
}
