import type { KubernetesObject } from "@steps/kubernetes";
import { printable } from "@steps/model/bounded-text";
import { INIT_CONTAINER, JOB_CONTAINER } from "./pod-manifest.ts";

/** The state of a pod: it runs, it waits for something, or it will never run (any more). */
export type PodState =
  | { readonly kind: "runs" }
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string; readonly isImage: boolean };

type Fields = Readonly<Record<string, unknown>>;

// Trying again does not help with the first three, and has been of no use with the last.
const NO_IMAGE: ReadonlySet<string> = new Set([
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "ImagePullBackOff",
]);
const NO_START: ReadonlySet<string> = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "CrashLoopBackOff",
]);

/** Reads the state of a job's pod from its `v1.Pod`. */
export function podState(pod: KubernetesObject): PodState {
  const status = fieldsOf(pod, "status");
  const removal = fieldsOf(pod, "metadata")["deletionTimestamp"];
  const containers = [...listOf(status, "initContainerStatuses"), ...listOf(status, "containerStatuses")];
  const disruption = listOf(status, "conditions").find(
    ({ type, status: is }) => type === "DisruptionTarget" && is === "True",
  );
  const reason = textOf(status, "reason");
  if (reason !== "" && textOf(status, "phase") === "Failed") return failed(`the pod has failed: ${said(status)}`);
  if (disruption !== undefined) return failed(`the pod was taken away: ${said(disruption)}`);
  if (removal !== undefined && removal !== null) return failed("the pod is being removed");
  for (const container of containers) {
    const problem = problemOf(container, pod);
    if (problem !== undefined) return problem;
  }
  const phase = textOf(status, "phase");
  if (phase === "Failed" || phase === "Succeeded") return failed(`the pod has ended (${phase.toLowerCase()})`);
  const own = listOf(status, "containerStatuses");
  if (own.length > 0 && own.every((container) => !isWaiting(container))) return { kind: "runs" };
  return { kind: "waits", why: waitsFor(status, containers) };
}

function problemOf(container: Fields, pod: KubernetesObject): PodState | undefined {
  const name = textOf(container, "name");
  const state = fieldsOf(container, "state");
  const waiting = fieldsOf(state, "waiting");
  const reason = textOf(waiting, "reason");
  const image = JSON.stringify(textOf(container, "image"));
  if (NO_IMAGE.has(reason)) return failed(`the image ${image} cannot be had: ${said(waiting)}`, true);
  if (NO_START.has(reason)) return failed(`the container "${name}" (${image}) cannot be started: ${said(waiting)}`);
  const ended = state["terminated"];
  if (!isFields(ended)) return undefined;
  const exitCode = Number(ended["exitCode"] ?? 0);
  if (name === INIT_CONTAINER && exitCode !== 0)
    return failed(`the helper image ${image} does not bring the program: exit code ${exitCode}: ${said(ended)}`);
  if (name !== JOB_CONTAINER) return undefined;
  if (textOf(ended, "reason") === "OOMKilled") {
    const limit = limitOf(pod);
    const of = limit === "" ? "" : ` of ${limit}`;
    return failed(`the container of the job used more memory than its limit${of}: OOMKilled, exit code ${exitCode}`);
  }
  return failed(`the container of the job has ended with exit code ${exitCode}: ${said(ended)}`);
}

function waitsFor(status: Fields, containers: readonly Fields[]): string {
  const unscheduled = listOf(status, "conditions").find(
    ({ type, status: is }) => type === "PodScheduled" && is === "False",
  );
  if (unscheduled !== undefined) return said(unscheduled);
  for (const container of containers) {
    const waiting = fieldsOf(fieldsOf(container, "state"), "waiting");
    const reason = textOf(waiting, "reason");
    if (reason !== "" && reason !== "PodInitializing") return said(waiting);
  }
  return textOf(status, "phase") || "Pending";
}

function isWaiting(container: Fields): boolean {
  const state = fieldsOf(container, "state");
  return !isFields(state["running"]) && !isFields(state["terminated"]);
}

function limitOf(pod: KubernetesObject): string {
  const job = listOf(fieldsOf(pod, "spec"), "containers").find(({ name }) => name === JOB_CONTAINER) ?? {};
  return textOf(fieldsOf(fieldsOf(job, "resources"), "limits"), "memory");
}

function failed(why: string, isImage = false): PodState {
  return { kind: "failed", why, isImage };
}

/** The reason and the message of a state or a condition. */
function said(fields: Fields): string {
  const parts = [textOf(fields, "reason"), textOf(fields, "message")].map((text) => printable(text.trim()));
  return (
    parts
      .filter((part) => part !== "")
      .join(": ")
      .slice(0, 2000) || "no reason is given"
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field that is an object; an empty one when it is not. */
export function fieldsOf(fields: Fields, key: string): Fields {
  const value = fields[key];
  return isFields(value) ? value : {};
}

/** A field that is a text; empty when it is not. */
export function textOf(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === "string" ? value : "";
}

function listOf(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key];
  return Array.isArray(value) ? (value as unknown[]).filter(isFields) : [];
}
