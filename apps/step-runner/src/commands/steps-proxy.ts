import { defineCommand } from "@steps/console";
import { proxy } from "./proxy.ts";

export const stepsProxy = defineCommand({
  ...proxy,
  name: "steps proxy",
  summary: "proxy, as GitLab's runner calls it",
  isHidden: true,
  examples: [["gitlab-runner-helper steps proxy --socket /tmp/step-runner.sock", "a connection to the service"]],
});
