import * as core from "@actions/core";
import * as glob from "@actions/glob";

// `hashFiles` of `@actions/glob`, which GitHub's expressions have theirs from: a list of lists of patterns.
const lists = JSON.parse(core.getInput("lists")) as readonly (readonly string[])[];
const workspace = process.env["GITHUB_WORKSPACE"] ?? "";
const found: { hash: string; followed: string; files: string[] }[] = [];
for (const patterns of lists) {
  const text = patterns.join("\n");
  const files = await (await glob.create(text, { followSymbolicLinks: false, matchDirectories: false })).glob();
  const hash = await glob.hashFiles(text, workspace, { followSymbolicLinks: false });
  const followed = await glob.hashFiles(text, workspace, { followSymbolicLinks: true }).catch(() => "error");
  found.push({ hash, followed, files: files.map((file) => file.slice(workspace.length + 1)) });
}
core.setOutput("found", found);
