import { DefaultArtifactClient } from "@actions/artifact";
import * as core from "@actions/core";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Uploads an artifact and gets it back.
const workspace = process.env["GITHUB_WORKSPACE"] ?? "";
const client = new DefaultArtifactClient();
const name = core.getInput("name");
mkdirSync(join(workspace, "dist/deep"), { recursive: true });
const files = ["dist/a.txt", "dist/deep/ü b.txt"].map((path) => join(workspace, path));
for (const file of files) writeFileSync(file, `content of ${file.slice(workspace.length + 1)}`);
const uploaded = await client.uploadArtifact(name, files, workspace, { retentionDays: 1 });
const { artifact } = await client.getArtifact(name);
const { downloadPath = "" } = await client.downloadArtifact(artifact.id, {
  path: join(workspace, "got"),
  expectedHash: `sha256:${uploaded.digest}`,
});
const { artifacts } = await client.listArtifacts();
core.setOutput("names", artifacts.map((found) => found.name).toSorted());
core.setOutput("content", readFileSync(join(downloadPath, "dist/deep/ü b.txt"), "utf8"));
core.setOutput("digest", uploaded.digest);
