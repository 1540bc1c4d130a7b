import { expect, test } from "vitest";
import { type PodState, podState } from "./pod-state.ts";

const waiting = (reason: string, message = ""): object => ({ waiting: { reason, message } });
const build = (state: object): object => ({ containerStatuses: [{ name: "build", image: "app:1", state }] });
const condition = (type: string, status: string, reason: string): object => ({
  conditions: [{ type, status, reason, message: "why" }],
});

const STATES: readonly (readonly [status: object, state: PodState["kind"], why: RegExp])[] = [
  [{ phase: "Pending" }, "waits", /^Pending$/u],
  [{ phase: "Pending", ...condition("PodScheduled", "False", "Unschedulable") }, "waits", /^Unschedulable: why$/u],
  [{ phase: "Pending", ...build(waiting("ContainerCreating")) }, "waits", /^ContainerCreating$/u],
  [{ phase: "Pending", ...build(waiting("ErrImagePull", "401")) }, "waits", /^ErrImagePull: 401$/u],
  [{ phase: "Running", ...build({ running: {} }) }, "runs", /^$/u],
  [build(waiting("ImagePullBackOff", "no")), "failed", /^the image "app:1" cannot be had: ImagePullBackOff: no$/u],
  [build(waiting("CreateContainerConfigError", "no key")), "failed", /cannot be started: .*no key/u],
  [
    build({ terminated: { exitCode: 137, reason: "OOMKilled" } }),
    "failed",
    /used more memory than its limit of 64Mi: OOMKilled, exit code 137/u,
  ],
  [build({ terminated: { exitCode: 2, reason: "Error" } }), "failed", /has ended with exit code 2: Error$/u],
  [
    { initContainerStatuses: [{ name: "step-runner", image: "h:1", state: { terminated: { exitCode: 126 } } }] },
    "failed",
    /^the helper image "h:1" does not bring the program: exit code 126/u,
  ],
  [{ phase: "Failed", reason: "Evicted", message: "disk" }, "failed", /^the pod has failed: Evicted: disk$/u],
  [{ phase: "Failed", reason: "DeadlineExceeded" }, "failed", /^the pod has failed: DeadlineExceeded$/u],
  [condition("DisruptionTarget", "True", "PreemptionByScheduler"), "failed", /^the pod was taken away: Preempt/u],
  [{ phase: "Succeeded" }, "failed", /^the pod has ended \(succeeded\)$/u],
];

test.each(STATES)("podState() reads %j as one that %s", (status, kind, why) => {
  const spec = { containers: [{ name: "build", resources: { limits: { memory: "64Mi" } } }] };
  const state = podState({ metadata: {}, spec, status });
  expect(state.kind).toBe(kind);
  expect(state.kind === "runs" ? "" : state.why).toMatch(why);
  expect(state.kind === "failed" && state.isImage).toBe(JSON.stringify(status).includes("ImagePullBackOff"));
});

test("podState() names a pod that is being removed, and answers whatever a server sends", () => {
  const removal = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running" } };
  expect(podState(removal)).toMatchObject({ kind: "failed", why: "the pod is being removed" });
  expect(podState({ status: { containerStatuses: [null, 1, { state: [] }] } }).kind).toBe("waits");
});
