import * as core from "@actions/core";

// One of three phases, each of them a bundle of its own.
const count = Number(core.getState("count") || "0") + 1;
core.saveState("count", count);
core.info(`${core.getInput("name")} ${count} ${process.env["GITHUB_ACTION"]} ${process.env["SEEN"] ?? "-"}`);
if (count === 3) core.exportVariable("SEEN", `post of ${core.getInput("name")}`);
