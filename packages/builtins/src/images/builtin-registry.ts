import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createCache } from "@steps/cache";
import { formatImageName, type ImageName, isDigest } from "@steps/model/image";
import { isInside } from "@steps/platform";
import { promoteImage } from "@steps/publish";
import { BuiltinError } from "../builtin-error.ts";
import {
  type BuiltinPlace,
  hasTag,
  imageOf,
  type Inputs,
  invalid,
  type Outputs,
  repositoryOf,
  textOf,
} from "./builtin-images.ts";

/** `step/oci/promote` of 2025: an image under a version, and the tags that the version moves, in another repository. */
export async function promote(inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  const from = imageOf(textOf(inputs, "from_image"), "from_image");
  const target = targetOf(inputs);
  const version = inputs["to_version"] || target.tag || (isDigest(from.tag) ? "" : from.tag);
  if (typeof version !== "string" || version === "") throw invalid("from_image has no tag: give to_version");
  const { registry, repository } = target;
  const { env, log } = place;
  const { digest, tags } = await promoteImage(from, { registry, repository, version, env, onProgress: log });
  const ref = formatImageName({ registry, repository, tag: version });
  log(`promoted ${formatImageName(from)} to ${ref} ${digest}`);
  return { ref, digest, tags: [...tags] };
}

interface Target extends Omit<ImageName, "tag"> {
  readonly tag?: string;
}

// Until v0.14 a registry, a repository and a version, since v0.15 one image.
function targetOf(inputs: Inputs): Target {
  const parts = ["to_registry", "to_repository"].filter((name) => inputs[name] !== "");
  const image = inputs["to_image"];
  if (typeof image === "string" && image !== "") {
    if (parts.length > 0) throw invalid(`to_image and ${parts.join(", ")} say the same: give one of them`);
    return hasTag(image) ? imageOf(image, "to_image") : repositoryOf(image);
  }
  return repositoryOf(`${textOf(inputs, "to_registry")}/${textOf(inputs, "to_repository")}`);
}

/** `step/oci/fetch` of 2025: the files of an image, in a folder that goes with the job. */
export async function fetchImage(inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  const name = { registry: textOf(inputs, "registry"), repository: textOf(inputs, "repository") };
  const image = imageOf(formatImageName({ ...name, tag: textOf(inputs, "tag") }), "tag");
  const output = place.env["STEP_OUTPUT_FILE"];
  if (output === undefined) throw invalid("STEP_OUTPUT_FILE is not set");
  const jobDir = dirname(output);
  const root = await mkdtemp(join(jobDir, "fetch-"));
  try {
    await using cache = createCache({ root, env: place.env });
    const component = await cache.resolve({ kind: "oci", ...image });
    const dir = await freeFolder(join(jobDir, `oci-image-${(component.resource.digest["sha256"] ?? "").slice(0, 16)}`));
    const tree = await component.copyTo(dir);
    if (component.note !== undefined) place.log(component.note);
    const { step_path: path } = inputs;
    const step = join(tree, typeof path === "string" ? path : "");
    if (!existsSync(step)) throw invalid("step_path is not in the image");
    if (!isInside(tree, step)) {
      throw new BuiltinError("REFERENCE_INVALID", `Cannot use "${step}": it is outside its component`);
    }
    const ref = formatImageName(image);
    place.log(`fetched step image=${ref}`);
    return { fetched_step_path: step, ref };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

// Steps may have changed what was fetched before.
async function freeFolder(path: string): Promise<string> {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : await mkdtemp(`${path}-`);
}
