import type { ServiceImpl } from "@connectrpc/connect";
import type { StepRunner } from "@steps/proto/service";
import { encodeTrace } from "@steps/trace";
import { ServiceError } from "../service-error.ts";
import { mayUse, requireJob, requireToken } from "./job-access.ts";
import { jobMessage, resultMessage } from "./job-message.ts";
import { outputFields, readOutput } from "./log-calls.ts";
import { readRunRequest } from "./read-run-request.ts";
import { assertMayRun, type CallContext, startJob } from "./start-job.ts";

const PIECE_BYTES = 64 * 1024;

/** Our service, `steps.v1.StepRunner`, over a job table. Its requests obey the rules of their schema already. */
export function stepRunnerService(context: CallContext): ServiceImpl<typeof StepRunner> {
  const { jobs } = context;
  return {
    async run(request, { requestHeader }) {
      assertMayRun(context, request.id, requestHeader);
      startJob(context, await readRunRequest(request, context.workDir), requestHeader);
      return {};
    },
    async *follow({ id }, { requestHeader, signal }) {
      const job = requireJob(jobs, id, requestHeader);
      for await (const state of job.readResults(signal))
        yield { result: resultMessage(state), job: jobMessage(state.info, true) };
    },
    async *followIO(request, { requestHeader, signal }) {
      const call = { headers: requestHeader, signal };
      for await (const piece of readOutput(context, request, call))
        yield { stream: piece.bytes, ...outputFields(piece) };
    },
    cancel({ id }, { requestHeader }) {
      requireJob(jobs, id, requestHeader).cancel();
      return {};
    },
    list({ ids }, { requestHeader }) {
      const known = ids.length === 0 ? jobs.list() : [...new Set(ids)].flatMap((id) => jobs.get(id) ?? []);
      const { runner, instance } = jobs;
      return { jobs: known.map((job) => jobMessage(job.info, mayUse(job, requestHeader))), runner, instance };
    },
    async close({ id }, { requestHeader }) {
      const job = jobs.get(id);
      if (job === undefined) return {};
      requireToken(job, requestHeader);
      await jobs.close(id);
      return {};
    },
    async *getTrace({ id }, { requestHeader }) {
      const job = requireJob(jobs, id, requestHeader);
      if (job.info.status === "running")
        throw new ServiceError("JOB_RUNNING", `Job "${id}" runs; it has a trace when it has ended`);
      const trace = job.trace();
      if (trace === undefined) throw new ServiceError("JOB_NOT_FOUND", `There is no trace of job "${id}"`);
      const bytes = Buffer.from(encodeTrace(trace));
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield { data: bytes.subarray(at, at + PIECE_BYTES) };
    },
  };
}
