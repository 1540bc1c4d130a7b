import { parseCommandLine } from "@steps/console";
import { expect, test } from "vitest";
import { follow } from "./commands/follow.ts";
import { jobCommand } from "./job-command.ts";

test.each([
  [["b"], "runner-bridge follow b"],
  [["b", "--docker", "build", "--quiet"], "runner-bridge follow b --docker build"],
  [
    ["it's", "--ssh", "ci@host", "--identity", "a key", "--identity", "b", "--accept-new-host-key"],
    "runner-bridge follow 'it'\\''s' --ssh ci@host --identity 'a key' --identity b --accept-new-host-key",
  ],
  [["b", "--token", "secret", "--socket", "s.sock"], "runner-bridge follow b --socket s.sock"],
])("the command that follows the job of follow %j", (args, expected) => {
  const { options, positionals } = parseCommandLine(follow, args, {});
  expect(jobCommand("follow", positionals[0] as string, options)).toBe(expected);
});
