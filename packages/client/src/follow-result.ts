import type { StepResult } from "@steps/proto";
import type { FollowOptions } from "./follow-options.ts";
import type { Link } from "./link.ts";

/** Gives each state of the result tree to the caller, the whole of it each time, until the job ends. */
export async function followResults(link: Link, id: string, options: FollowOptions): Promise<StepResult | undefined> {
  let last: StepResult | undefined;
  let failure: { readonly error: unknown } | undefined;
  await link.use(async (service) => {
    for await (const { result, job } of service.follow(id)) {
      last = result ?? last;
      try {
        if (result !== undefined) await options.onResult?.(result, job);
      } catch (error) {
        failure = { error };
        return;
      }
    }
  });
  if (failure !== undefined) throw failure.error;
  return last;
}

/** The trace of a job that ended. A trace that was cut off is read again from its start. */
export function readTrace(link: Link, id: string): Promise<Uint8Array> {
  return link.use(async (service) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of service.getTrace(id)) pieces.push(piece);
    return new Uint8Array(Buffer.concat(pieces));
  });
}
