import { defineCommand } from "@steps/console";
import { errors, print, terminalOf } from "@steps/console/terminal";
import { bootstrap as install } from "../bootstrap/bootstrap.ts";

const MIB = 1_048_576;

export const stepsBootstrap = defineCommand({
  name: "steps bootstrap",
  summary: "Leave this program at a path, as GitLab's runner calls it in its helper image",
  usage: "FILE",
  description: [
    "FILE becomes a launcher of about a kilobyte, with the program and its libraries in a hidden folder beside it. Together they run in any " +
      "Linux container of this processor, also in one without a shell or a C library, and may be moved together.",
    "/ca-certs.pem is copied beside it, where it is trusted, and so is the tree /git.",
  ],
  flags: {},
  positionals: { min: 1, max: 1 },
  isHidden: true,
  examples: [["gitlab-runner-helper steps bootstrap /opt/gitlab-runner/gitlab-runner-helper", "fill a volume"]],
  run: (_options, [path]) => leave(path as string),
});

/** Leaves this program at a path and says so. */
export async function leave(path: string): Promise<number> {
  const size = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;
  const done = install(path, {
    onCopy: (bytes) => {
      if (terminalOf(2).isTerminal) void errors.write(Buffer.from(`Copying ${size(bytes)}\n`));
    },
  });
  await print(`${done.path} runs in any Linux container, with ${size(done.bytes)} beside it\n`);
  return 0;
}
