import { setTimeout as sleep } from "node:timers/promises";
import { defineCommand, flag } from "@steps/console";
import { output } from "@steps/console/terminal";
import { type AdminClient, adminClient } from "../admin-client.ts";
import { idOf } from "../id-argument.ts";
import { podFlags } from "../pod-flags.ts";

const ENDED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "skipped"]);
const POLL_MS = 500;

export const trace = defineCommand({
  name: "trace",
  summary: "Print the trace of a job",
  usage: "JOB [flags]",
  description: [
    "With --follow it prints what comes until the job has ended, and exits with 0 after a success, with 1 after anything else.",
    "With --report json each part is a line: its offset, its text and the state of the job.",
  ],
  flags: { follow: flag.boolean({ summary: "Print what comes until the job has ended" }), ...podFlags },
  positionals: { min: 1, max: 1 },
  examples: [["pod trace 42 --follow", "read along"]],
  async run(options, positionals) {
    const pod = adminClient(options);
    const id = idOf(positionals);
    const write = options.report === "json" ? writeJson : writeBytes;
    for (let offset = 0; ;) {
      const part = await readPart(pod, id, offset);
      if (part.bytes.length > 0) await write(part, offset);
      offset += part.bytes.length;
      if (offset < part.size) continue;
      if (!options.follow) return 0;
      if (ENDED.has(part.state)) return part.state === "success" ? 0 : 1;
      await sleep(POLL_MS);
    }
  },
});

interface Part {
  readonly bytes: Buffer;
  readonly size: number;
  readonly state: string;
}

async function readPart(pod: AdminClient, id: number, offset: number): Promise<Part> {
  const reply = await pod.fetch("GET", `/jobs/${id}/trace?offset=${offset}`);
  return {
    bytes: Buffer.from(await reply.arrayBuffer()),
    size: Number(reply.headers.get("x-trace-size")),
    state: reply.headers.get("job-status") ?? "",
  };
}

async function writeBytes({ bytes }: Part): Promise<void> {
  await output.write(bytes);
}

async function writeJson({ bytes, state }: Part, offset: number): Promise<void> {
  await output.write(Buffer.from(`${JSON.stringify({ offset, text: bytes.toString(), state })}\n`));
}
