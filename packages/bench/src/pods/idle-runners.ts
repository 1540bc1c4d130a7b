import { setTimeout as sleep } from "node:timers/promises";
import { connectPod, type ReceivedJob } from "./pod-client.ts";
import type { PodProcess } from "./processes.ts";

/** Flags of a pod, since thousands of requests take longer to come than one is held. */
export const LONG_HOLD: readonly string[] = ["--poll-hold", "600s"];

/** Runners that wait for jobs, as many as there are machines. */
export interface IdleRunners {
  /** They leave, and the pod has noticed. */
  stop(): Promise<void>;
}

/** The answers that idle runners get. */
export interface IdleOptions {
  /** The tokens of the runners, one for each kind; the machines have them in turn. */
  readonly tokens: readonly string[];
  readonly machines: number;
  /** Takes a job; the machine asks again once it is fulfilled. */
  readonly onJob: (job: ReceivedJob) => Promise<void>;
}

/** Has machines ask for jobs, each on a connection of its own, and waits until the pod holds all of their requests. */
export async function startIdleRunners(
  pod: PodProcess,
  { tokens, machines, onJob }: IdleOptions,
): Promise<IdleRunners> {
  const client = connectPod(pod.url, pod.adminToken);
  const stopped = new AbortController();
  const ask = async (machine: number): Promise<void> => {
    const token = tokens[machine % tokens.length] as string;
    let ticket: string | undefined;
    while (!stopped.signal.aborted) {
      const answer = await client.requestJob(token, `s_${machine}`, ticket);
      ticket = answer.ticket;
      if (answer.job !== undefined) await onJob(answer.job);
    }
  };
  // The requests that are held when the runners leave are cut.
  const fail = (error: unknown): void => {
    if (!stopped.signal.aborted) throw error;
  };
  for (let machine = 0; machine < machines; machine++) {
    ask(machine).catch(fail);
    // The connections of all of them at once are more than a server's backlog.
    if (machine % 100 === 99) await client.metric("held_requests");
  }
  while ((await client.metric("held_requests")) < machines) await sleep(50);
  return {
    async stop() {
      stopped.abort();
      client[Symbol.dispose]();
      using observer = connectPod(pod.url, pod.adminToken);
      while ((await observer.metric("held_requests")) > 0) await sleep(50);
    },
  };
}
