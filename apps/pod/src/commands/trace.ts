import { setTimeout as sleep } from "node:timers/promises";
import { defineCommand, flag } from "@steps/console";
import { output } from "@steps/console/terminal";
import { type AdminClient, adminClient } from "../admin-client.ts";
import { idOf } from "../id-argument.ts";
import { podFlags } from "../pod-flags.ts";
import { ReadableTrace } from "../run/readable-trace.ts";

const ENDED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "skipped"]);
const POLL_MS = 500;

export const trace = defineCommand({
  name: "trace",
  summary: "Print the trace of a job",
  usage: "JOB [flags]",
  description: [
    "With --follow it prints what comes until the job has ended, and exits with 0 after a success, with 1 after anything else.",
    "The times and marks of sections that runners write for a web page are left out; --raw prints the bytes as the runner sent them.",
    "With --report json each part is a line: its offset, its text and the state of the job.",
  ],
  flags: {
    follow: flag.boolean({ summary: "Print what comes until the job has ended" }),
    raw: flag.boolean({ summary: "Print the bytes as the runner sent them" }),
    ...podFlags,
  },
  positionals: { min: 1, max: 1 },
  examples: [["pod trace 42 --follow", "read along"]],
  async run(options, positionals) {
    const pod = adminClient(options);
    const id = idOf(positionals);
    const printer = printerFor(options);
    for (let offset = 0; ;) {
      const part = await readPart(pod, id, offset);
      if (part.bytes.length > 0) await printer.print(part, offset);
      offset += part.bytes.length;
      if (offset < part.size) continue;
      const isEnd = ENDED.has(part.state);
      if (isEnd || !options.follow) {
        await printer.end();
        return isEnd && options.follow && part.state !== "success" ? 1 : 0;
      }
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

/** Prints a trace, part by part. */
interface Printer {
  print(part: Part, offset: number): void | Promise<void>;
  end(): void | Promise<void>;
}

function printerFor({ report, raw }: { readonly report: string; readonly raw: boolean }): Printer {
  if (report === "json") return { print: writeJson, end: () => undefined };
  if (raw) return { print: ({ bytes }) => output.write(bytes), end: () => undefined };
  const text = new ReadableTrace();
  return { print: ({ bytes }) => output.write(text.push(bytes)), end: () => output.write(text.end()) };
}

async function writeJson({ bytes, state }: Part, offset: number): Promise<void> {
  await output.write(Buffer.from(`${JSON.stringify({ offset, text: bytes.toString(), state })}\n`));
}
