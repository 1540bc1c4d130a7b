import { type DescribedTable, describeKeys, type Key } from "@steps/source/keys";
import { ref, SOME_TEXT, STRING, TEXT } from "./shapes.ts";

/** The long form of a reference: what it is one of. */
export const REFERENCE_KEYS: DescribedTable = describeKeys({
  what: "a reference",
  keys: {
    git: { about: "A step of a git repository.", shape: ref("git") },
    zip: { about: "A step of a zip file.", shape: ref("zip") },
    oci: { about: "A step of an image in a registry.", shape: ref("oci") },
  },
  oneOf: ["git", "zip", "oci"],
});

const DIR: Key = { about: "The folder of the step, from the root of the component. No expressions.", shape: STRING };
const FILE: Key = {
  about: "The step file, if it is none of `func.yml`, `func.yaml`, `step.yml`, `step.yaml`. No expressions.",
  shape: { type: "string", pattern: "^[^/]+$" },
};

export const GIT_KEYS: DescribedTable = describeKeys({
  what: "a git reference",
  keys: {
    url: {
      about: "The repository: `https://…`, `http://…`, `ssh://…`, `file://…`, or a host with a path.",
      shape: SOME_TEXT,
    },
    rev: { about: "A branch, a tag or a commit. No expressions.", shape: SOME_TEXT },
    dir: DIR,
    file: FILE,
  },
  required: ["url", "rev"],
});

export const OCI_KEYS: DescribedTable = describeKeys({
  what: "an OCI reference",
  keys: {
    registry: { about: "The registry: a host, with a port if it has one.", shape: SOME_TEXT },
    repository: { about: "The repository in the registry.", shape: SOME_TEXT },
    tag: { about: "The tag, or the digest `sha256:…`. An empty one is `latest`.", shape: TEXT },
    dir: DIR,
    file: FILE,
  },
  required: ["registry", "repository", "tag"],
});

export const ZIP_KEYS: DescribedTable = describeKeys({
  what: "a zip reference",
  keys: {
    url: {
      about: "The archive: `https://…`, `http://…`, `file://…`, or a path from the calling step file.",
      shape: SOME_TEXT,
    },
    sha256: {
      about: "The digest that the archive must have, 64 hex digits.",
      shape: { ...TEXT, pattern: "^[0-9a-fA-F]{64}$" },
    },
    dir: DIR,
    file: FILE,
  },
  required: ["url"],
});
