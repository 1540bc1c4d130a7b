// A runner in a process of its own, which a trial kills at any time. It does what gitlab-runner does with the API, to jobs that need no
// shell: their traces and artifacts follow from their names. Its options are the first argument, in JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { connectRunnerApi } from "@steps/runner-api/client";
import { runnerInfo } from "@steps/testkit";
import { createRandom } from "../kit/random.ts";
import { SmallRunnerJob } from "./small-runner-job.ts";

interface Options {
  readonly url: string;
  readonly token: string;
  readonly systemId: string;
  readonly ledger: string;
  readonly slots: number;
  readonly seed: number;
}

const { url, token, systemId, ledger, slots, seed } = JSON.parse(process.argv[2] ?? "{}") as Options;
const random = createRandom(seed);
const retries = { attempts: 3, firstDelayMs: 20, longestDelayMs: 500 };
const api = connectRunnerApi({ url, userAgent: "gitlab-runner 19.4.0 (trial)", retries });

async function work(): Promise<never> {
  let ticket: string | undefined;
  for (;;) {
    // Runners from before 18.5 confirm a job by their first patch.
    const confirms = random.next() < 0.75;
    const info = runnerInfo({ two_phase_job_commit: confirms });
    try {
      const answer = await api.requestJob({ token, system_id: systemId, info, last_update: ticket });
      ticket = answer.lastUpdate ?? ticket;
      if (answer.payload === undefined) await sleep(random.int(10, 100));
      else await new SmallRunnerJob(answer.payload, { api, info, confirms, ledger, random }).run();
    } catch {
      await sleep(random.int(20, 200));
    }
  }
}

process.stdout.write(`Taking jobs, ${slots} at once\n`);
await Promise.all(Array.from({ length: slots }, work));
