import { isStepsError } from "@steps/model";
import { lastLines, type PipelineView } from "@steps/pipeline-view";
import type { JobView } from "@steps/pods";
import type { AdminClient } from "../admin-client.ts";
import { ReadableTrace } from "./readable-trace.ts";

interface Shown {
  offset: number;
  /** How often the runner has sent the trace anew. */
  resets: number;
  isEnded: boolean;
  text: ReadableTrace;
  readonly output: ReturnType<PipelineView["outputOf"]>;
  /** The part of it that is kept for an explanation; nothing where none is shown. */
  readonly record: ReturnType<PipelineView["recordJob"]>;
}

/** Reads the traces of jobs as they grow, and shows each byte once. */
export class TraceReader {
  readonly #pod: AdminClient;
  readonly #view: PipelineView;
  readonly #traces = new Map<number, Shown>();

  constructor(pod: AdminClient, view: PipelineView) {
    this.#pod = pod;
    this.#view = view;
  }

  /** Shows what is new in the trace of a job; of one that has ended all that is left. */
  async show({ id, name, trace_size: size }: JobView, isEnd: boolean): Promise<void> {
    const shown = this.#traces.get(id) ?? begin(this.#view, name);
    this.#traces.set(id, shown);
    if (shown.isEnded) return;
    while (shown.offset < size && (await this.#read(id, shown)));
    if (isEnd && shown.offset >= size) {
      shown.isEnded = true;
      await write(shown, shown.text.end());
      await shown.output.end();
    }
  }

  /** The lines that explain why a job has failed: the end of its trace, and the command that shows all of it. */
  explain({ id }: JobView): string {
    const lines = lastLines(this.#traces.get(id)?.record?.tails.textOf("") ?? "");
    return [...lines, `  hint: pod trace ${id} shows all of it\n`].join("\n");
  }

  /** One part; false when there is none now. */
  async #read(id: number, shown: Shown): Promise<boolean> {
    try {
      const reply = await this.#pod.fetch("GET", `/jobs/${id}/trace?offset=${shown.offset}`);
      const bytes = Buffer.from(await reply.arrayBuffer());
      const resets = Number(reply.headers.get("x-trace-resets") ?? 0);
      if (resets !== shown.resets) {
        Object.assign(shown, { resets, offset: 0, text: new ReadableTrace() });
        return true;
      }
      await write(shown, shown.text.push(bytes));
      shown.offset += bytes.length;
      return bytes.length > 0;
    } catch (error) {
      if (isStepsError(error, "POD_UNREACHABLE")) return false;
      throw error;
    }
  }
}

function begin(view: PipelineView, name: string): Shown {
  const [output, record] = [view.outputOf(name), view.recordJob()];
  return { offset: 0, resets: 0, isEnded: false, text: new ReadableTrace(), output, record };
}

async function write({ output, record }: Shown, bytes: Buffer): Promise<void> {
  record?.onOutput(bytes);
  await output.stdout.write(bytes);
}
