import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { listJobs } from "@steps/client";
import { peakMemory } from "../kit/processes.ts";
import { callRaw } from "../kit/raw-call.ts";
import { type Service, startService } from "../kit/service.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";
import { REQUESTS } from "./requests.ts";

const RUN = "/steps.v1.StepRunner/Run";
const LIST = "/steps.v1.StepRunner/List";
/** The service may need memory for the requests it reads at once (256 MiB) and what it makes of them. */
const MOST_MEMORY_MIB = 1536;

export const largeRequests: Trial = {
  name: "large-requests",
  holds:
    "No request within the limit of 64 MiB ends the service, nor fills its memory; each is answered with a code that says why.",
  count: REQUESTS.length,
  smallCount: 4,
  attempt: ({ seed }) =>
    withUser(async (user) => {
      const { name, messages, codes } = REQUESTS[seed % REQUESTS.length] as (typeof REQUESTS)[number];
      const service = await startService(user);
      const all = messages();
      const over = new AbortController();
      const others = callMeanwhile(service, over.signal);
      const answers = await Promise.all(all.map((message) => callRaw(service.socket, RUN, message)));
      over.abort();
      const stall = await others;
      const memory = peakMemory(service.running.pid);
      const isAlive = await listJobs(service.dial, { connectWindowMs: 5000 }).then(
        () => service.running.child.exitCode === null && service.running.child.signalCode === null,
        () => false,
      );
      const wrong = answers.filter(({ status }) => !isRight(status, codes));
      const told = wrong.map(({ status, message }) => `${Code[Number(status)] ?? status} ${message.slice(0, 100)}`);
      const problems = [
        ...(isAlive ? [] : ["the service is dead"]),
        ...(memory <= MOST_MEMORY_MIB ? [] : [`the service took ${memory} MiB`]),
        ...(wrong.length === 0 ? [] : [`${wrong.length} of ${answers.length} answers: ${told[0]}`]),
      ];
      return {
        failure: problems.length === 0 ? undefined : `${name}: ${problems.join("; ")}`,
        measured: {
          requests: all.length,
          "services killed": isAlive ? 0 : 1,
          "largest memory of the service, MiB": memory,
          "largest wait of another caller, ms": stall,
        },
      };
    }),
};

function isRight(status: string, codes: readonly Code[]): boolean {
  return codes.some((code) => String(code) === status);
}

/** Calls List again and again, and gives the longest time that an answer took. */
async function callMeanwhile({ socket }: Service, stop: AbortSignal): Promise<number> {
  let longest = 0;
  while (!stop.aborted) {
    const start = performance.now();
    await callRaw(socket, LIST, Buffer.alloc(0));
    longest = Math.max(longest, performance.now() - start);
    await sleep(10);
  }
  return Math.round(longest);
}
