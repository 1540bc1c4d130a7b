import { defineCommand } from "@steps/console";
import { join } from "node:path";
import { leave } from "./steps-bootstrap.ts";

export const bootstrap = defineCommand({
  name: "bootstrap",
  summary: "Leave this program in a folder, in a form that runs in any Linux container",
  usage: "DIR",
  description: [
    "DIR/step-runner becomes a launcher of about a kilobyte, with the program and its libraries in a hidden folder beside it. Together they " +
      "run in any Linux container of this processor, also in one without a shell or a C library, and may be moved together.",
    "/ca-certs.pem is copied into DIR, where it is trusted, and so is the tree /git.",
  ],
  flags: {},
  positionals: { min: 1, max: 1 },
  examples: [["step-runner bootstrap /opt/step-runner", "fill a volume that is mounted into containers"]],
  run: (_options, [folder]) => leave(join(folder as string, "step-runner")),
});
