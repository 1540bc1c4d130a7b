import * as core from "@actions/core";
import * as cache from "@actions/tool-cache";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// A tool that is there, one that is put there, one out of an archive, and one that no version of fits.
const temp = process.env["RUNNER_TEMP"] ?? "";
const name = core.getInput("tool");
const there = cache.find(name, core.getInput("version"));
if (there !== "") core.addPath(join(there, "bin"));
const before = cache.findAllVersions("own-tool");
if (before.length === 0) {
  const made = join(temp, "made");
  mkdirSync(join(made, "bin"), { recursive: true });
  writeFileSync(join(made, "bin/own-tool"), "#!/bin/sh\necho own\n", { mode: 0o755 });
  await cache.cacheDir(made, "own-tool", "2.0.1");
}
const own = cache.find("own-tool", "^2.0.0");
const extracted = await cache.extractTar(core.getInput("archive"), join(temp, "out"));
const downloaded = await cache.downloadTool(core.getInput("url"), join(temp, "downloaded"), "token given");
core.setOutput("report", {
  there,
  versions: cache.findAllVersions(name).toSorted(),
  misfit: cache.find(name, "^9.0.0"),
  incomplete: cache.find(name, "1.5.0"),
  before,
  own,
  ran: existsSync(join(own, "bin/own-tool")),
  extracted: readFileSync(join(extracted, "file.txt"), "utf8"),
  downloaded: readFileSync(downloaded, "utf8"),
});
