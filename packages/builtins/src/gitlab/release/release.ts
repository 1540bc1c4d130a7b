import { writeFileSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Value } from "@steps/model";
import { type BuiltinPlace, type Inputs, invalid, textOf } from "../../images/builtin-images.ts";
import { ARTIFACT_FILES } from "../artifacts/artifact-store.ts";
import { type GitlabResult, objectList, objectOf, optionalText, stringList } from "../gitlab-step.ts";
import { entryPath, publishEntry } from "../store/entry-store.ts";

type Payload = Readonly<Record<string, Value>>;

const LINK_TYPES = ["other", "runbook", "image", "package"];
const MAX_DESCRIPTION_BYTES = 1024 * 1024;

/**
 * `gitlab/release`: puts together what GitLab would be asked to publish, and publishes nothing. The output and the file
 * have the form of the request `POST /projects/:id/releases`.
 */
export async function recordRelease(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const payload = payloadOf(inputs, place);
  const store = optionalText(inputs, "artifacts_dir");
  const text = `${JSON.stringify(payload, null, 2)}\n`;
  if (store !== "") {
    const job = textOf(inputs, "job");
    await publishEntry(entryPath(store, job), {
      keep: [ARTIFACT_FILES.archive, ARTIFACT_FILES.reports, ARTIFACT_FILES.dotenv],
      write(dir, present) {
        writeFileSync(join(dir, ARTIFACT_FILES.release), text, { mode: 0o600 });
        const createdAt = new Date().toISOString();
        return Promise.resolve(present?.metadata ?? { job, digest: "", size: 0, files: 0, createdAt });
      },
    });
  }
  place.log(`Nothing was published. On GitLab this would be the release:\n${text.trimEnd()}`);
  return { outputs: { payload } };
}

function payloadOf(inputs: Inputs, place: BuiltinPlace): Payload {
  const tag = textOf(inputs, "tag_name");
  const releasedAt = optionalText(inputs, "released_at");
  if (releasedAt !== "" && !/^\d{4}-\d\d-\d\dT/.test(releasedAt)) {
    throw invalid(`released_at "${releasedAt}" is no time such as 2026-01-31T12:00:00Z`);
  }
  const links = linksOf(inputs);
  const milestones = stringList(inputs["milestones"] ?? [], "milestones");
  const all: Payload = {
    tag_name: tag,
    name: optionalText(inputs, "name") || tag,
    tag_message: optionalText(inputs, "tag_message"),
    description: descriptionOf(textOf(inputs, "description"), place),
    ref: optionalText(inputs, "ref"),
    milestones: milestones.length === 0 ? "" : milestones,
    released_at: releasedAt,
    assets: links.length === 0 ? "" : { links },
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

/** The content of a file of the project that is named so, else the text itself. */
function descriptionOf(text: string, { workDir }: BuiltinPlace): string {
  if (text.includes("\n") || text.includes("\0") || text.length > 1000) return text;
  let path: string;
  try {
    path = realpathSync(resolve(workDir, text));
    if (!statSync(path).isFile()) return text;
  } catch {
    // No file has this name.
    return text;
  }
  const inside = relative(realpathSync(workDir), path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw invalid(`the description "${text}" is a file outside of the project`);
  }
  if (statSync(path).size > MAX_DESCRIPTION_BYTES) throw invalid(`the description "${text}" is larger than 1 MiB`);
  return readFileSync(path, "utf8");
}

function linksOf(inputs: Inputs): Value[] {
  const assets = objectOf(inputs["assets"] ?? {}, "assets");
  return objectList(assets["links"] ?? [], "assets: links").map((link, index): Value => {
    const fail = (problem: string): Error => invalid(`assets: links[${index}] ${problem}`);
    const [name, url] = [optionalText(link, "name"), optionalText(link, "url")];
    if (name === "" || url === "") throw fail("needs a name and a url");
    if (!URL.canParse(url)) throw fail(`has no valid url: "${url}"`);
    const type = optionalText(link, "link_type") || "other";
    if (!LINK_TYPES.includes(type)) throw fail(`has a link_type that is none of ${LINK_TYPES.join(", ")}`);
    const path = optionalText(link, "filepath");
    if (path !== "" && !path.startsWith("/")) throw fail(`has a filepath that does not begin with a slash: "${path}"`);
    const common: Record<string, Value> = { name, url, link_type: type };
    return path === "" ? common : { ...common, direct_asset_path: path };
  });
}
