import { slugify } from "../slugs.ts";
import type { CommitFacts, PipelineFacts } from "./facts.ts";
import type { PredefinedValues } from "./values.ts";

const NO_COMMIT = "0".repeat(40);

/** A title from this length on counts as a part of the description. */
const LONG_TITLE = 100;

/** Longest message in UTF-8 bytes; GitLab cuts longer ones. */
const MAX_MESSAGE_BYTES = 100_000;

/** The variables of the commit and of its branch or tag. */
export function commitVariables({ commit, run, project, mergeRequest }: PipelineFacts): PredefinedValues {
  const ref = mergeRequest?.sourceBranch ?? run.ref;
  const isBranch = mergeRequest === undefined && !run.isTag;
  return {
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_REF_SLUG: ref === undefined ? undefined : slugify(ref),
    CI_COMMIT_REF_PROTECTED: String(
      run.isProtected ?? (isBranch && ref !== undefined && ref === project.defaultBranch),
    ),
    CI_COMMIT_BRANCH: isBranch ? run.ref : undefined,
    CI_COMMIT_TAG: run.isTag ? run.ref : undefined,
    CI_COMMIT_TAG_MESSAGE: run.isTag ? commit?.tagMessage : undefined,
    ...(commit === undefined ? {} : messageVariables(commit)),
  };
}

function messageVariables({ sha, beforeSha, message: whole, author, timestamp }: CommitFacts): PredefinedValues {
  const message = cut(whole);
  const [title = ""] = message.split(/[\r\n]/, 1);
  const description = message.slice(message.split("\n", 1)[0]?.length).replace(/^\n/, "");
  return {
    CI_COMMIT_SHA: sha,
    CI_COMMIT_SHORT_SHA: sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: beforeSha ?? NO_COMMIT,
    CI_COMMIT_MESSAGE: message,
    CI_COMMIT_MESSAGE_IS_TRUNCATED: String(message !== whole),
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: title.length >= LONG_TITLE ? message : description.replace(/\r?\n$/, ""),
    CI_COMMIT_TIMESTAMP: timestamp,
    CI_COMMIT_AUTHOR: author,
  };
}

// A character that would be cut in two is left out.
function cut(message: string): string {
  let bytes = 0;
  let end = 0;
  for (const character of message) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_MESSAGE_BYTES) return message.slice(0, end);
    end += character.length;
  }
  return message;
}
