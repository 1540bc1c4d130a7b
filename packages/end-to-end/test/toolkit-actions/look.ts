import * as cache from "@actions/cache";
import * as core from "@actions/core";

// Only asks whether there is a cache. All that speaks to the service is in the file that this bundle shares with others.
const found = await cache.restoreCache(core.getMultilineInput("path"), core.getInput("key"), [], { lookupOnly: true });
core.setOutput("found", found ?? "");
core.setOutput("version", process.env["GITHUB_SERVER_URL"] === "https://github.com" ? "v2" : "v1");
