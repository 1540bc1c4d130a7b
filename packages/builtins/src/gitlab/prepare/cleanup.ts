import { CheckoutGit } from "../../checkout/checkout-git.ts";
import { type BuiltinPlace, type Inputs, invalid } from "../../images/builtin-images.ts";
import { type GitlabResult, optionalText, warn } from "../gitlab-step.ts";
import { removeTempFolder, tempFolder } from "./temp-folder.ts";

/** `gitlab/cleanup`: removes the files of variables, and what a job has left in the project where that is asked for. */
export async function cleanUpJob(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const folder = tempFolder(inputs, place);
  const removed = removeTempFolder(folder);
  place.log(removed ? `Removed ${folder}` : `There is nothing to remove at ${folder}`);
  const flags = optionalText(inputs, "clean_flags");
  if (flags !== "" && flags !== "none") await cleanProject(flagsOf(flags), place);
  return { outputs: { removed } };
}

/** The words of a text of flags, the first of which is a flag. @throws {BuiltinError} BUILTIN_FAILED */
export function flagsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words[0]?.startsWith("-") === false) throw invalid(`"${text}" are no flags`);
  return words;
}

async function cleanProject(flags: readonly string[], place: BuiltinPlace): Promise<void> {
  const { workDir } = place;
  await CheckoutGit.with({ ...place, setOutput() {} }, [workDir], async (git) => {
    if ((await git.open(workDir)) === undefined) return warn(place, "The project is no repository: it stays as it is");
    await git.run(["-C", workDir, "reset", "--hard", "--quiet"], { action: "reset the project" });
    const cleaned = await git.run(["-C", workDir, "clean", ...flags], { action: "clean the project" });
    if (cleaned !== "") place.log(cleaned);
  });
}
