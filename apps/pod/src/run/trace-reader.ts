import { isStepsError } from "@steps/model";
import type { PipelineView } from "@steps/pipeline-view";
import type { JobView } from "@steps/pods";
import type { AdminClient } from "../admin-client.ts";

interface Shown {
  offset: number;
  /** How often the runner has sent the trace anew. */
  resets: number;
  isEnded: boolean;
  readonly output: ReturnType<PipelineView["outputOf"]>;
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
    const shown = this.#traces.get(id) ?? { offset: 0, resets: 0, isEnded: false, output: this.#view.outputOf(name) };
    this.#traces.set(id, shown);
    if (shown.isEnded) return;
    while (shown.offset < size && (await this.#read(id, shown)));
    if (isEnd && shown.offset >= size) {
      shown.isEnded = true;
      await shown.output.end();
    }
  }

  /** One part; false when there is none now. */
  async #read(id: number, shown: Shown): Promise<boolean> {
    try {
      const reply = await this.#pod.fetch("GET", `/jobs/${id}/trace?offset=${shown.offset}`);
      const bytes = Buffer.from(await reply.arrayBuffer());
      const resets = Number(reply.headers.get("x-trace-resets") ?? 0);
      if (resets !== shown.resets) {
        Object.assign(shown, { resets, offset: 0 });
        return true;
      }
      await shown.output.stdout.write(bytes);
      shown.offset += bytes.length;
      return bytes.length > 0;
    } catch (error) {
      if (isStepsError(error, "POD_UNREACHABLE")) return false;
      throw error;
    }
  }
}
