import { gitUrlProblem, type StepReference, versionProblem } from "@steps/model/reference";
import { childOf, type YamlMapping } from "@steps/source";
import { describeKeys } from "@steps/source/keys";
import type { CompileContext } from "../../context.ts";
import { SOME_TEXT } from "../../keys/shapes.ts";
import { holdsExpression } from "../../texts/check-template.ts";
import { dynamicUrl, type LongForm, PLACE_KEYS, readParts, reportProblem, requireText } from "./long-form.ts";

export const git: LongForm = {
  about: "A step of a git repository.",
  keys: describeKeys({
    what: "a git reference",
    keys: {
      url: {
        about: "The repository: `https://…`, `http://…`, `ssh://…`, `file://…`, or a host with a path.",
        shape: SOME_TEXT,
      },
      rev: { about: "A branch, a tag or a commit. No expressions.", shape: SOME_TEXT },
      ...PLACE_KEYS,
    },
    required: ["url", "rev"],
  }),
  read: readGit,
};

function readGit(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const parts = readParts(context, node);
  const version = requireText(context, node, "rev");
  if (parts === undefined || version === undefined) return undefined;
  const badVersion = versionProblem(version);
  if (badVersion !== undefined) reportProblem(context, childOf(node, "rev") ?? node, badVersion);
  if (holdsExpression(parts.url)) return dynamicUrl(context, node, { parts, prefix: "git+", suffix: `@${version}` });
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(parts.url) ? parts.url : `https://${parts.url}`;
  const badUrl = gitUrlProblem(url);
  if (badUrl !== undefined) reportProblem(context, childOf(node, "url") ?? node, badUrl);
  return { kind: "git", ...parts, url, version };
}
