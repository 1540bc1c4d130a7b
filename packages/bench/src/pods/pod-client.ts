import { type Call, connectHttp, type HttpClient, type Reply } from "./http-client.ts";

/** A job that was received. */
export interface ReceivedJob {
  readonly id: number;
  readonly token: string;
  readonly job_info: { readonly name: string };
}

/** An answer to a request for a job: the job, or the ticket for the next request. */
interface Answer {
  readonly job: ReceivedJob | undefined;
  readonly ticket: string | undefined;
}

/** The calls that measurements make to a pod, as its owner and as runners. */
export interface PodClient extends HttpClient {
  /** Creates a runner with these tags and gives its token. */
  createRunner(tags: readonly string[], more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Creates a pipeline of so many jobs. */
  createJobs(count: number, options?: JobOptions): Promise<readonly number[]>;
  requestJob(runner: string, systemId: string, ticket?: string): Promise<Answer>;
  /** Says that a job runs, or how it ended. Gives the status of the answer. */
  update(job: ReceivedJob, state: "running" | "success"): Promise<number>;
  /** A number of the pod's metrics, the sum over its labels. */
  metric(name: string): Promise<number>;
}

interface JobOptions {
  readonly project?: string;
  readonly tags?: readonly string[];
  /** The name of the job, or what the names of several begin with. */
  readonly name?: string;
}

const FEATURES = { two_phase_job_commit: true, trace_reset: true, cancel_gracefully: true, cancelable: true };

export function connectPod(url: string, adminToken: string): PodClient {
  const http = connectHttp(url);
  const send = async (call: Call, wanted: readonly number[]): Promise<Reply> => {
    const reply = await http.send(call);
    if (wanted.includes(reply.status)) return reply;
    throw new Error(`${call.method} ${call.path}: ${reply.status} ${reply.body.toString().slice(0, 300)}`);
  };
  const owner = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const create = async <T>(path: string, body: unknown): Promise<T> => {
    const call = { method: "POST", path: `/api/pod/v1${path}`, headers: owner, body: JSON.stringify(body) };
    return JSON.parse((await send(call, [201])).body.toString()) as T;
  };
  return {
    send: async (call) => await http.send(call),
    createRunner: async (tags, more = {}) =>
      (await create<{ readonly token: string }>("/runners", { tags, run_untagged: tags.length === 0, ...more })).token,
    createJobs: async (count, { project = "bench/project", tags = [], name = "job" } = {}) => {
      const nameOf = (i: number): string => (count === 1 ? name : `${name}-${i}`);
      const jobs = Array.from({ length: count }, (_, i) => ({ name: nameOf(i), stage: "test", tags, payload: {} }));
      const pipeline = await create<{ readonly jobs: readonly { readonly id: number }[] }>("/pipelines", {
        project,
        stages: ["test"],
        jobs,
      });
      return pipeline.jobs.map(({ id }) => id);
    },
    requestJob: async (runner, systemId, ticket) => {
      const { status, headers, body } = await send(jobRequest(runner, systemId, ticket), [201, 204]);
      const job = status === 201 ? (JSON.parse(body.toString()) as ReceivedJob) : undefined;
      return { job, ticket: headers["x-gitlab-last-update"] as string | undefined };
    },
    update: async (job, state) => (await send(jobUpdate(job, state), [200, 202])).status,
    metric: async (name) => sumOf(name, (await http.send({ method: "GET", path: "/metrics" })).body.toString()),
    [Symbol.dispose]: () => http[Symbol.dispose](),
  };
}

/** A request for a job, as the official runner makes it. */
export function jobRequest(runner: string, systemId: string, ticket?: string): Call {
  const info = { name: "bench", version: "1.0.0", executor: "shell", shell: "bash", features: FEATURES };
  const body = JSON.stringify({ token: runner, system_id: systemId, last_update: ticket, info });
  const headers = { "content-type": "application/json", "runner-token": runner };
  return { method: "POST", path: "/api/v4/jobs/request", headers, body };
}

/** An update of a job, as the official runner makes it. */
export function jobUpdate({ id, token }: ReceivedJob, state: string): Call {
  const headers = { "content-type": "application/json", "job-token": token };
  return { method: "PUT", path: `/api/v4/jobs/${id}`, headers, body: JSON.stringify({ token, state }) };
}

function sumOf(name: string, metrics: string): number {
  const rows = metrics.split("\n").filter((line) => line.startsWith(`pod_${name} `) || line.startsWith(`pod_${name}{`));
  if (rows.length === 0) throw new Error(`The pod has no metric ${name}`);
  return rows.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
