import type { StepReference } from "@steps/model/reference";
import { zipUrlProblem } from "@steps/model/kinds";
import { childOf, type YamlMapping } from "@steps/source";
import { describeKeys } from "@steps/source/keys";
import { asText, type CompileContext } from "../../context.ts";
import { SOME_TEXT, TEXT } from "../../keys/shapes.ts";
import { holdsExpression } from "../../texts/check-template.ts";
import { dynamicUrl, type LongForm, PLACE_KEYS, readParts, reportProblem } from "./long-form.ts";

export const zip: LongForm = {
  about: "A step of a zip file.",
  keys: describeKeys({
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
      ...PLACE_KEYS,
    },
    required: ["url"],
  }),
  read: readZip,
};

function readZip(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const parts = readParts(context, node);
  const digestNode = childOf(node, "sha256");
  const sha256 = digestNode === undefined ? undefined : asText(context, digestNode, "sha256")?.toLowerCase();
  if (digestNode !== undefined && sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    reportProblem(context, digestNode, { message: "sha256 must be 64 hex digits" });
  }
  if (parts === undefined) return undefined;
  const suffix = sha256 === undefined ? "" : `#sha256=${sha256}`;
  if (holdsExpression(parts.url)) return dynamicUrl(context, node, { parts, prefix: "", suffix });
  const urlNode = childOf(node, "url") ?? node;
  if (/[\u0000-\u001f\u007f]/.test(parts.url)) {
    reportProblem(context, urlNode, { message: "The URL holds a control character" });
  }
  const problem = zipUrlProblem(parts.url);
  if (problem !== undefined) reportProblem(context, urlNode, problem);
  return { kind: "zip", ...parts, sha256 };
}
