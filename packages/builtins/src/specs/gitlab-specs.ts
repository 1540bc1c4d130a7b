import type { InputSpec, Spec } from "@steps/model/definition";
import { flag, list, optional, output, struct, text } from "./spec-fields.ts";

const ARTIFACTS_DIR = text("The folder in which jobs keep their artifacts: absolute");
const CACHE_DIR = text("The folder in which caches are kept: absolute");
const CACHES =
  "`{key, paths, untracked, policy}`; the key is a text, or `{files, prefix}` for the digest of files, or `{files_commits, prefix}` for that of their last commits";
const JOB = text("The name of the job that keeps them");
const COMPRESSION: InputSpec = {
  ...optional("`fastest` (none), `fast`, `default`, `slow` or `slowest`"),
  default: "default",
};

/**
 * The library that jobs of a `.gitlab-ci.yml` are compiled to: `builtin://gitlab/NAME`. Each does one part of what GitLab's
 * runner does around a script, and may be used in any list of steps.
 */
export const GITLAB_SPECS: Readonly<Record<string, Spec>> = {
  "gitlab/artifacts-download": {
    description: "Unpacks what earlier jobs have kept, and exports the variables of their dotenv reports.",
    inputs: {
      artifacts_dir: ARTIFACTS_DIR,
      sources: list(
        "Jobs in the order in which they are unpacked: `{job: NAME}`. With `required: true` the step fails where the job has kept nothing; with `digest` it fails where its archive is another one",
      ),
    },
    outputs: {
      files: output("number", "How many files and folders were unpacked"),
      variables: output("struct", "The variables that were exported"),
    },
  },
  "gitlab/artifacts-upload": {
    description: "Keeps files of the job for later jobs and for the user.",
    inputs: {
      artifacts_dir: ARTIFACTS_DIR,
      job: JOB,
      name: { ...optional("The name that the archive has for people"), default: "artifacts" },
      paths: list("Patterns of files and folders, relative to the project: `dist/`, `**/*.log`"),
      exclude: list("Patterns of relative paths that are left out; `dir/**` for all that is in a folder"),
      untracked: flag("Add all files that git does not track, also those that it ignores"),
      reports: struct("Files by type of report, which are kept one by one: `{junit: [report.xml]}`"),
      expire_in: optional("How long they are of interest; it is noted, and nothing is removed"),
      type: { ...optional("`archive`, or the type of report that `paths` are"), default: "archive" },
      format: optional("`zip` for an archive; `raw` or `gzip` for a report"),
      compression_level: COMPRESSION,
    },
    outputs: {
      archive: output("string", "The archive, relative to artifacts_dir; empty where no file was found"),
      digest: output("string", "Its digest: sha256:…; the same files give the same digest"),
      size: output("number", "Its bytes"),
      files: output("number", "How many files and folders are in it"),
    },
  },
  "gitlab/cache-restore": {
    description: "Unpacks the caches of a job. What goes wrong is a warning.",
    inputs: {
      cache_dir: CACHE_DIR,
      caches: list(
        `${CACHES}; \`fallback_keys\` are tried after the key. One whose \`policy\` is \`push\` is passed over`,
      ),
      fallback_key: optional("The key that is tried last, for all of them"),
    },
    outputs: {
      caches: output(
        "array",
        "For each that was looked for: `key`, `matched_key` (empty without one), `digest`, `files`",
      ),
      hit: output("boolean", "Whether all were found under their own keys"),
    },
  },
  "gitlab/cache-save": {
    description: "Keeps files for later runs of jobs with the same key. What goes wrong is a warning.",
    inputs: {
      cache_dir: CACHE_DIR,
      caches: list(`${CACHES}. One whose \`policy\` is \`pull\` is passed over`),
      compression_level: COMPRESSION,
    },
    outputs: {
      caches: output(
        "array",
        "For each: `key`, `saved` (false where it has the same files already), `digest`, `size`, `files`",
      ),
    },
  },
  "gitlab/report-dotenv": {
    description: "Keeps the variables of a dotenv report for later jobs.",
    inputs: {
      artifacts_dir: ARTIFACTS_DIR,
      job: JOB,
      files: list("Patterns of the report's files, relative to the project"),
    },
    outputs: {
      variables: output("struct", "The variables"),
      count: output("number", "How many there are"),
    },
  },
};
