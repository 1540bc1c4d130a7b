import { setTimeout as delay } from "node:timers/promises";
import { KubernetesError, type KubernetesObject, type KubernetesObjects } from "@steps/kubernetes";
import { MAX_TIMER_MS } from "@steps/model";
import { RunnerError } from "../runner-error.ts";
import { fieldsOf, podState, textOf } from "./pod-state.ts";

/** A pod of a job, with its secret. */
export interface PodPlan {
  readonly name: string;
  readonly pod: object;
  /** Absent when the pod needs none. */
  readonly secret: object | undefined;
}

/** How a pod is started. */
export interface PodStart {
  /** How long it may take until its containers run. */
  readonly startMs: number;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 10_000;
const REMOVE_MS = 120_000;
const GRACE_SECONDS = 10;

/**
 * Makes the pod of a job and waits until its containers run. One that a killed process has made is gone on with, unless it has
 * failed. @throws {RunnerError} IMAGE_FAILED, PLACE_FAILED @throws {KubernetesError}
 */
export async function startPod(objects: KubernetesObjects, plan: PodPlan, start: PodStart): Promise<void> {
  const end = performance.now() + start.startMs;
  await retried(() => makePod(objects, plan, start), { end, start });
  await untilRuns(objects, plan.name, { end, start });
}

/** Why the pod does not run any more; `undefined` when it does. @throws {KubernetesError} when nobody can tell */
export async function podProblem(
  objects: KubernetesObjects,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pod = await objects.get({ kind: "pods", name }, signal);
  if (pod === undefined) return `the pod ${JSON.stringify(name)} is gone: it was removed by somebody else`;
  const state = podState(pod);
  return state.kind === "failed" ? state.why : undefined;
}

/** Removes a pod with its secret, for as long as it takes the server to hear of it, two minutes at most. @throws {KubernetesError} */
export async function removePod(objects: KubernetesObjects, name: string): Promise<void> {
  const signal = AbortSignal.timeout(REMOVE_MS);
  const end = performance.now() + REMOVE_MS;
  const start = { startMs: REMOVE_MS, say: () => undefined, signal };
  await retried(() => objects.remove({ kind: "pods", name }, GRACE_SECONDS, signal), { end, start });
  // It goes with the pod that owns it, unless the pod was never made.
  await retried(() => objects.remove({ kind: "secrets", name }, 0, signal), { end, start });
}

interface Wait {
  /** A time of `performance.now()`. */
  readonly end: number;
  readonly start: PodStart;
}

async function makePod(objects: KubernetesObjects, plan: PodPlan, { signal, say }: PodStart): Promise<void> {
  const { name } = plan;
  const known = await objects.get({ kind: "pods", name }, signal);
  if (known !== undefined && podState(known).kind !== "failed") return await own(objects, plan, known, signal);
  if (known !== undefined) await untilGone(objects, name, signal);
  if (plan.secret !== undefined && (await objects.create("secrets", plan.secret, signal)) === undefined) {
    // The rest of a killed process may be of another time.
    await objects.remove({ kind: "secrets", name }, 0, signal);
    await objects.create("secrets", plan.secret, signal);
  }
  const made = await objects.create("pods", plan.pod, signal);
  say(`Pod ${JSON.stringify(name)} of namespace ${JSON.stringify(await objects.namespace(signal))} is made`);
  if (made !== undefined) await own(objects, plan, made, signal);
}

/** Lets the secret go with the pod, whoever removes that. */
async function own(
  objects: KubernetesObjects,
  { name, secret }: PodPlan,
  pod: KubernetesObject,
  signal: AbortSignal,
): Promise<void> {
  if (secret === undefined) return;
  const uid = textOf(fieldsOf(pod, "metadata"), "uid");
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name, uid }];
  await objects.patch({ kind: "secrets", name }, { metadata: { ownerReferences } }, signal);
}

async function untilGone(objects: KubernetesObjects, name: string, signal: AbortSignal): Promise<void> {
  do {
    await objects.remove({ kind: "pods", name }, 0, signal);
    await delay(PAUSE_MS / 2, undefined, { signal });
  } while ((await objects.get({ kind: "pods", name }, signal)) !== undefined);
}

async function untilRuns(objects: KubernetesObjects, name: string, wait: Wait): Promise<void> {
  const { say, signal, startMs } = wait.start;
  let told = "";
  let pull = "";
  for (let news: KubernetesObject | undefined; ;) {
    const pod = news ?? (await retried(() => objects.get({ kind: "pods", name }, signal), wait));
    if (pod === undefined)
      throw new RunnerError("PLACE_FAILED", `the pod ${JSON.stringify(name)} is gone: it was removed by somebody else`);
    const state = podState(pod);
    if (state.kind === "runs") return;
    if (state.kind === "failed") {
      const before = pull === "" || state.why.includes(pull) ? "" : ` (${pull})`;
      throw new RunnerError(state.isImage ? "IMAGE_FAILED" : "PLACE_FAILED", `${state.why}${before}`);
    }
    if (state.why.startsWith("ErrImagePull")) pull = state.why;
    if (state.why !== told) say(`Waiting for the pod: ${state.why}`);
    told = state.why;
    const leftMs = wait.end - performance.now();
    if (leftMs <= 0)
      throw new RunnerError("PLACE_FAILED", `the pod does not run within ${startMs / 1000} seconds: ${state.why}`);
    const version = textOf(fieldsOf(pod, "metadata"), "resourceVersion");
    news = await nextNews(objects, name, { version, leftMs, signal });
  }
}

async function nextNews(
  objects: KubernetesObjects,
  name: string,
  { version, leftMs, signal }: { readonly version: string; readonly leftMs: number; readonly signal: AbortSignal },
): Promise<KubernetesObject | undefined> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(Math.min(Math.ceil(leftMs), MAX_TIMER_MS))]);
  const news = await objects.next({ kind: "pods", name }, version, soon).catch(() => undefined);
  signal.throwIfAborted();
  if (news === undefined && !soon.aborted)
    await delay(Math.min(PAUSE_MS, leftMs), undefined, { signal: soon }).catch(() => undefined);
  signal.throwIfAborted();
  return news;
}

/** Does it again while the server cannot be reached, or has no room for it. */
async function retried<T>(act: () => Promise<T>, { end, start }: Wait): Promise<T> {
  let told = "";
  for (let pause = PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await act();
    } catch (error) {
      start.signal.throwIfAborted();
      if (!(error instanceof KubernetesError) || !mayPass(error) || performance.now() + pause > end) throw error;
      if (error.message !== told) start.say(`Trying again: ${error.message}`);
      told = error.message;
      await delay(pause, undefined, { signal: start.signal });
    }
  }
}

function mayPass({ code, message }: KubernetesError): boolean {
  return code === "UNREACHABLE" || (code === "DENIED" && message.includes("exceeded quota"));
}
