import type { InputSpec, Spec } from "@steps/model/definition";
import { flag, list, number, optional, output, struct, text } from "./spec-fields.ts";

const ARTIFACTS_DIR = text("The folder in which jobs keep their artifacts: absolute");
const OPTIONAL_DIR = optional("The folder in which jobs keep their artifacts: absolute; not needed with server_url");
const SERVER_URL = optional("The GitLab that keeps them instead, without /api/v4");
const CACHE_DIR = text("The folder in which caches are kept: absolute");
const CACHES =
  "`{key, paths, untracked, policy}`; the key is a text, or `{files, prefix}` for the digest of files, or `{files_commits, prefix}` for that of their last commits";
const TMP_DIR = optional(
  "The folder of the job's temporary files: absolute; empty for the project's path with `.tmp` after it",
);
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
      artifacts_dir: OPTIONAL_DIR,
      sources: list(
        "Jobs in the order in which they are unpacked: `{job: NAME}`. With `required: true` the step fails where the job has kept nothing; with `digest` it fails where its archive is another one. A server wants its number too: `{job: NAME, id: 7}`",
      ),
      server_url: SERVER_URL,
      tokens: { ...struct("For a server: by the number of a job the token for its artifacts"), isSensitive: true },
    },
    outputs: {
      files: output("number", "How many files and folders were unpacked"),
      variables: output("struct", "The variables that were exported"),
    },
  },
  "gitlab/artifacts-upload": {
    description: "Keeps files of the job for later jobs and for the user.",
    inputs: {
      artifacts_dir: OPTIONAL_DIR,
      job: JOB,
      name: { ...optional("The name that the archive has for people"), default: "artifacts" },
      paths: list("Patterns of files and folders, relative to the project: `dist/`, `**/*.log`"),
      exclude: list("Patterns of relative paths that are left out; `dir/**` for all that is in a folder"),
      untracked: flag("Add all files that git does not track, also those that it ignores"),
      reports: struct("Files by type of report, which are kept one by one: `{junit: [report.xml]}`"),
      expire_in: optional("How long they are handed on: `1 week`, `30 mins`; `never` or empty for ever"),
      type: { ...optional("`archive`, or the type of report that `paths` are"), default: "archive" },
      format: optional("`zip` for an archive; `raw` or `gzip` for a report"),
      compression_level: COMPRESSION,
      server_url: SERVER_URL,
      job_id: { ...number("For a server: the number of the job"), default: 0 },
      token: { ...optional("For a server: the token of the job"), isSensitive: true },
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
  "gitlab/checkout": {
    description: "Brings the commit of a project into the project's folder, as the `GIT_` variables of GitLab say.",
    inputs: {
      strategy: {
        ...optional("`fetch`, `clone` (the folder is emptied before), `none`, or `empty`"),
        default: "fetch",
      },
      url: {
        ...optional("The repository; empty for CI_REPOSITORY_URL. Its credentials are for this step alone"),
        isSensitive: true,
      },
      sha: optional("The commit; empty for CI_COMMIT_SHA, or where that is not set for what the ref stands for"),
      ref: optional("The branch or tag; empty for CI_COMMIT_REF_NAME"),
      depth: { ...number("How many commits are fetched; 0 for all"), default: 0 },
      refspecs: list("What is fetched; empty for all branches and tags"),
      checkout: { ...flag("Check the commit out, and clean the tree"), default: true },
      clean_flags: { ...optional("Flags of `git clean`, or `none`"), default: "-ffdx" },
      fetch_flags: { ...optional("More flags of `git fetch`, or `none`"), default: "--prune --quiet" },
      submodules: struct(
        "`{strategy, depth, paths, update_flags}`; the strategy is `none`, `normal` or `recursive`. Those on the server of the project are always fetched by HTTPS where the project is",
      ),
      lfs: flag("Bring the files of git-lfs, where .gitattributes names some"),
      attempts: { ...number("How often it is tried, 1 to 10"), default: 1 },
      disposable: flag(
        "What is in the folder may be removed. Without it the step refuses to remove what no commit has",
      ),
    },
    outputs: {
      sha: output("string", "The commit that is checked out; empty without one"),
      ref: output("string", "The branch or tag"),
      dir: output("string", "The project's folder"),
    },
  },
  "gitlab/cleanup": {
    description: "Removes the files of variables, and what a job has left in the project where that is asked for.",
    inputs: {
      tmp_dir: TMP_DIR,
      clean_flags: optional(
        "Reset the project and clean it with these flags of `git clean`: `-ffdx`; `none` or empty for not",
      ),
    },
    outputs: { removed: output("boolean", "Whether there was something of gitlab/prepare") },
  },
  "gitlab/prepare": {
    description: "Sets the variables of a job that are more than texts: those of type file, secrets, and tokens.",
    inputs: {
      tmp_dir: TMP_DIR,
      variables: list(
        "`{key, value, file, masked}`: exported as a text or, with `file: true`, as the path of a file with the value",
      ),
      secrets: {
        ...struct("By variable `{value, file}`: a file unless `file` is false. One without a value fails the step"),
        isSensitive: true,
      },
      id_tokens: struct(
        "By variable `{aud, value}`. Without a value it is a JSON Web Token as GitLab's are, signed by a key of this job alone",
      ),
      claims: struct("Claims of these tokens, in the place of those that the CI_ variables of the environment give"),
    },
    outputs: {
      tmp_dir: output("string", "The folder with the files"),
      gitlab_env_file: output("string", "The path in it for `GITLAB_ENV`"),
      jwks_file: output("string", "The file with the key that checks the tokens; empty where none was made"),
    },
  },
  "gitlab/release": {
    description: "Puts together what GitLab would be asked to release, and publishes nothing.",
    inputs: {
      tag_name: text("The tag"),
      tag_message: optional("The message of the tag, where it is new"),
      name: optional("The name of the release; empty for that of the tag"),
      description: text("A text, or the path of a file in the project"),
      ref: optional("The commit, branch or tag that a new tag is for"),
      milestones: list("The titles of milestones"),
      released_at: optional("A time: 2026-01-31T12:00:00Z"),
      assets: struct("`{links: [{name, url, filepath, link_type}]}`"),
      artifacts_dir: optional("The folder in which jobs keep their artifacts: absolute. release.json is written there"),
      job: optional("The name of the job; needed with artifacts_dir"),
    },
    outputs: { payload: output("struct", "The request, as `POST /projects/:id/releases` takes it") },
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
