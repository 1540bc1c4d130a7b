import * as cache from "@actions/cache";
import * as core from "@actions/core";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

// Does what `actions/cache` does: it looks up in main, and saves in post when nothing was found.
const paths = core.getMultilineInput("path");
const key = core.getInput("key");
const [folder = ""] = paths;

if (core.getState("key") === "") {
  core.saveState("key", key);
  core.setOutput("available", cache.isFeatureAvailable());
  const hit = await cache.restoreCache(paths, key, core.getMultilineInput("restore-keys"));
  core.setOutput("cache-hit", hit === key);
  core.setOutput("hit", hit ?? "");
  core.saveState("hit", hit ?? "");
  if (existsSync(`${folder}/made`)) core.setOutput("content", readFileSync(`${folder}/made`, "utf8"));
  else {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/made`, `made for ${key}`);
  }
} else if (core.getState("hit") === core.getState("key")) {
  core.info("nothing to save");
} else {
  core.info(`saved ${(await cache.saveCache(paths, core.getState("key"))) >= 0}`);
}
