import { type ImageName, imageNameProblem } from "@steps/model/image";
import type { StepReference } from "@steps/model/reference";
import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import { describeKeys } from "@steps/source/keys";
import type { CompileContext } from "../../context.ts";
import { SOME_TEXT, TEXT } from "../../keys/shapes.ts";
import { checkTemplateNode, holdsExpression } from "../../texts/check-template.ts";
import {
  checkDynamicFile,
  innerPath,
  type LongForm,
  PLACE_KEYS,
  readPlace,
  reportProblem,
  requireText,
} from "./long-form.ts";

export const oci: LongForm = {
  about: "A step of an image in a registry.",
  keys: describeKeys({
    what: "an OCI reference",
    keys: {
      registry: { about: "The registry: a host, with a port if it has one.", shape: SOME_TEXT },
      repository: { about: "The repository in the registry.", shape: SOME_TEXT },
      tag: { about: "The tag, or the digest `sha256:…`. An empty one is `latest`.", shape: TEXT },
      ...PLACE_KEYS,
    },
    required: ["registry", "repository", "tag"],
  }),
  read: readOci,
};

function readOci(context: CompileContext, node: YamlMapping): StepReference | undefined {
  const place = readPlace(context, node);
  const [registry, repository] = ["registry", "repository"].map((key) => requireText(context, node, key, true)?.trim());
  const tagNode = childOf(node, "tag");
  // An empty tag is the latest one, but a missing one may have been forgotten.
  const isEmptyTag = tagNode?.kind === "scalar" && tagNode.text.trim() === "";
  const tag = isEmptyTag ? "latest" : requireText(context, node, "tag", true)?.trim();
  if (registry === undefined || repository === undefined || tag === undefined) return undefined;
  if (holdsExpression(registry + repository + tag)) {
    for (const key of ["registry", "repository", "tag"]) checkTemplateNode(context, childOf(node, key) as YamlNode);
    checkDynamicFile(context, node, place.file);
    const inner = innerPath(place);
    return { kind: "dynamic", text: `oci://${registry}/${repository}:${tag}${inner === "" ? "" : ` ${inner}`}` };
  }
  const name = { registry: registry.toLowerCase(), repository, tag };
  reportImageName(context, node, name);
  return { kind: "oci", ...name, ...place };
}

/** Says what is wrong with an image's name where it is: each part is read with the others as they may be. */
function reportImageName(context: CompileContext, node: YamlMapping, { registry, repository, tag }: ImageName): void {
  const good: ImageName = { registry: "host", repository: "a/b", tag: "latest" };
  const parts = {
    registry: { ...good, registry },
    repository: { ...good, registry, repository },
    tag: { ...good, tag },
  };
  for (const [key, name] of Object.entries(parts)) {
    const problem = imageNameProblem(name);
    if (problem === undefined) continue;
    reportProblem(context, childOf(node, key) ?? node, problem);
    if (key === "registry") return;
  }
}
