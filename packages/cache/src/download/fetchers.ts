import type { RequestOf } from "@steps/model/kinds";
import type { Fetcher } from "../fetcher.ts";
import { downloadFetcher } from "./download-fetcher.ts";
import { extractFile } from "./extract-file.ts";
import { extractZip } from "./extract-zip.ts";

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Fetches zip archives. */
export const zipFetcher: Fetcher<RequestOf<"zip">> = downloadFetcher({
  kind: "zip",
  noun: "archive",
  maxBytes: Number.POSITIVE_INFINITY,
  extract: extractZip,
});

/** Fetches single files, which are small texts. */
export const fileFetcher: Fetcher<RequestOf<"file">> = downloadFetcher({
  kind: "file",
  noun: "file",
  maxBytes: MAX_FILE_BYTES,
  extract: extractFile,
});
