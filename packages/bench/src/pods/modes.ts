import type { PodCluster } from "../pod-cluster.ts";

/** A mode: its cluster, where runners of the instance are made, and the URL that they get. */
export interface Mode {
  readonly name: string;
  readonly cluster: PodCluster;
  readonly home: (pod: number) => number;
  readonly url: (pod: number) => string;
}

/** A job that was received. */
export interface Job {
  readonly id: number;
  readonly token: string;
}

const tokens = new Map<string, Promise<string>>();

/** The token of the runner for a tag, made the first time. */
async function tokenOf({ name, cluster, home }: Mode, pod: number, tag: string): Promise<string> {
  const key = `${name} ${home(pod)} ${tag}`;
  const made =
    tokens.get(key) ??
    cluster.admin<{ token: string }>(home(pod), "POST", "/runners", { tags: [tag] }).then((r) => r.token);
  tokens.set(key, made);
  return await made;
}

/** Creates jobs for a tag at a pod. Gives their ids. */
export async function createJobs({ cluster }: Mode, pod: number, tag: string, count: number): Promise<number[]> {
  const jobs = Array.from({ length: count }, (_, at) => ({ name: `job ${at}`, stage: "t", tags: [tag], payload: {} }));
  const body = { project: `g/${pod}`, stages: ["t"], jobs };
  const made = await cluster.admin<{ readonly jobs: readonly Job[] }>(pod, "POST", "/pipelines", body);
  return made.jobs.map(({ id }) => id);
}

/** Asks for a job once; undefined when there is none until the request is answered. */
export async function ask(mode: Mode, pod: number, tag: string, signal?: AbortSignal): Promise<Job | undefined> {
  const token = await tokenOf(mode, pod, tag);
  const reply = await fetch(`${mode.url(pod)}/api/v4/jobs/request`, {
    method: "POST",
    headers: { "runner-token": token },
    body: JSON.stringify({ token, info: { features: { two_phase_job_commit: true } } }),
    ...(signal !== undefined && { signal }),
  });
  const text = await reply.text();
  return reply.status === 201 ? (JSON.parse(text) as Job) : undefined;
}

/** Confirms a job and ends it. */
export async function end(mode: Mode, pod: number, { id, token }: Job): Promise<void> {
  for (const state of ["running", "success"]) {
    const headers = { "job-token": token };
    const url = `${mode.url(pod)}/api/v4/jobs/${id}`;
    const reply = await fetch(url, { method: "PUT", headers, body: JSON.stringify({ token, state }) });
    await reply.arrayBuffer();
    if (reply.status !== 200) throw new Error(`${mode.name}: a job could not be ${state}: ${reply.status}`);
  }
}
