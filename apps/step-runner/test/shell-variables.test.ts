import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

const STEPS = JSON.stringify([
  { name: "own", script: 'echo "${{ vars.MY_OWN }} ${{ vars.CI_JOB_NAME }} ${{ vars.INHERITED }}"' },
]);

/** Runs `ci` from a script that a shell reads, as GitLab's runner has it run on a machine that it reached by SSH. */
function runByShell(exports: readonly string[], env: Readonly<Record<string, string>>): ReturnType<typeof spawnSync> {
  const world = createWorld();
  const lines = [...exports, `STEPS='${STEPS.replaceAll("'", `'\\''`)}'`].map((text) => `export ${text}`);
  return spawnSync("bash", [], {
    cwd: world.work,
    env: { ...world.env, ...env },
    input: [...lines, `(${COMMAND} ci --quiet --strict-vars; exit $?)`].join("\n"),
    encoding: "utf8",
  });
}

describe.skipIf(process.platform !== "linux")("variables that the calling shell has set", () => {
  test("are job variables in a job of GitLab", () => {
    const exports = ["GITLAB_CI=true", "CI_JOB_NAME=j", `MY_OWN=$'two\\nlines'`, "INHERITED=changed"];
    const ended = runByShell(exports, { INHERITED: "as it was" });
    expect(ended).toMatchObject({ status: 0, stdout: "two\nlines j changed\n" });
  });

  test("are told from those that it was started with", () => {
    const ended = runByShell(["GITLAB_CI=true", "CI_JOB_NAME=j", "MY_OWN=mine"], { INHERITED: "as it was" });
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain(`Unknown key "INHERITED"`);
    // In the order in which the shell hands them over.
    const known = /Known keys: (.*)\n/.exec(String(ended.stderr))?.[1]?.split(", ");
    expect(known?.toSorted()).toEqual(["CI_JOB_NAME", "GITLAB_CI", "MY_OWN"]);
  });

  test("are none of a job outside of GitLab", () => {
    const ended = runByShell(["CI_JOB_NAME=j", "MY_OWN=mine", "INHERITED=x"], {});
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain(`Unknown key "MY_OWN"`);
  });
});
