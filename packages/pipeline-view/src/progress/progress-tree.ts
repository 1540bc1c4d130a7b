import type { JournalEvent } from "@steps/trace/journal";
import type { PipelineEvent } from "@steps/model/pipeline";
import { shownLabel } from "@steps/trace/tree";
import { SEPARATOR } from "../pipeline-rows.ts";
import { scriptOf } from "./script-of.ts";
import { planOf, type StepPlan } from "./step-plan.ts";

/** The states of a node: those of a step or a job, and that it runs. */
type NodeStatus = "running" | Extract<JournalEvent, { readonly type: "step-finished" }>["status"];

/** A pipeline, a job or a step, as it is shown while it runs and when it has ended. Times are in milliseconds since 1970. */
export interface ProgressNode {
  /** Its own name, its reference, `#N` for the N-th of its list, or the number of an attempt. */
  readonly label: string;
  /** Whether the label is a name of its own, by which the step can be asked for. */
  readonly isNamed: boolean;
  /** The path of a step in its job; empty for a job. */
  readonly path: string;
  readonly children: ProgressNode[];
  readonly startedAt: number;
  readonly isAttempt: boolean;
  /** Whether it runs at the same time as its neighbours. */
  readonly isParallel: boolean;
  /** The name of the step whose action wants this before or after the steps of the job. Absent for all others. */
  readonly owner?: string | undefined;
  status: NodeStatus;
  endedAt?: number;
  exitCode?: number | undefined;
  signal?: string | undefined;
  isAllowed?: boolean;
  /** Why it was skipped, or why it is tried again. */
  reason?: string | undefined;
  /** The command of its process. */
  command?: readonly string[];
  /** The thing that it does just now: a fetch, a command, a pause before the next attempt. */
  activity?: string | undefined;
  plan?: StepPlan;
}

/** The numbers of what has ended. */
export interface ProgressCounts {
  readonly passed: number;
  readonly failed: number;
  readonly allowed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

type StepEventOf<Type extends JournalEvent["type"]> = Extract<JournalEvent, { readonly type: Type }>;

/** A fold over the events of one job, or of the jobs of a pipeline: the tree that is shown of them. */
export class ProgressTree {
  readonly root: ProgressNode;
  readonly #isPipeline: boolean;
  readonly #nodes = new Map<string, ProgressNode>();
  readonly #withInstances = new Set<string>();
  // The instances that started a pipeline, whose jobs have rows in the table, and are counted, in their place.
  readonly #calls = new Set<string>();
  readonly #uncounted = new Set<ProgressNode>();

  /** @param pipeline the name of the pipeline; `undefined` for one job, which is the root of the tree then */
  constructor(now: number, pipeline?: string) {
    this.#isPipeline = pipeline !== undefined;
    this.root = newNode(pipeline === undefined ? "job" : `pipeline ${pipeline}`.trimEnd(), now);
  }

  /** The node of a step, or of the job for an empty path. @param job the full name of the instance; empty without a pipeline */
  nodeAt(path: string, job = ""): ProgressNode | undefined {
    return path === "" ? this.#jobAt(job) : this.#nodes.get(keyOf(job, path));
  }

  /** The labels from the outermost step or job to a node, for lines that stand alone. */
  namesOf(path: string, job = ""): readonly string[] {
    const parts = path === "" ? [] : path.split("/");
    const steps = parts.map((_, index) => this.nodeAt(parts.slice(0, index + 1).join("/"), job)?.label ?? "");
    return job === "" ? steps : [job, ...steps];
  }

  /** Whether a step, or one around it, runs at the same time as its neighbours. */
  isInParallel(path: string, job = ""): boolean {
    const parts = path.split("/");
    return parts.some((_, index) => this.nodeAt(parts.slice(0, index + 1).join("/"), job)?.isParallel === true);
  }

  /** Takes an event of a job. @param job the full name of the instance; empty without a pipeline */
  apply(event: JournalEvent, job = ""): void {
    if (event.type === "run-started") this.#startRun(event, job);
    if (event.type === "step-opened") this.#open(event, job);
    if (event.type === "step-planned") this.#plan(event, job);
    if (event.type === "component-resolved") this.tellActivity(event.path, undefined, job);
    if (event.type === "process-starting") this.#startProcess(event, job);
    if (event.type === "step-finished") this.#finish(event, job);
    if (event.type === "run-finished" && !this.#isPipeline) close(this.root, event.outcome.status, event.at);
  }

  /** Takes an event of a pipeline. @param path the names of the calling jobs, each with ` / ` behind it */
  applyJob(event: PipelineEvent, path: string, now: number): void {
    if (event.type === "instance-started") this.#startJob(path + event.instance, now);
    if (event.type === "instance-delayed") this.#startJob(path + event.instance, now).activity = "waits for its time";
    if (event.type === "instance-retried") {
      const node = this.#startJob(path + event.instance, now);
      node.reason = `attempt ${event.attempt} failed: ${event.result.reason ?? ""}`;
      node.children.length = 0;
    }
    if (event.type === "job-decided" && path !== "") this.#calls.add(path.slice(0, -SEPARATOR.length));
    if (event.type === "instance-ended") {
      // An instance may have a name in which that of its job is not.
      this.#withInstances.add(path + event.job);
      const name = path + event.instance;
      const node = this.#endJob(name, event.result, now);
      if (this.#calls.has(name)) this.#uncounted.add(node);
    }
    if (event.type === "job-ended" && !this.#withInstances.has(path + event.job))
      this.#endJob(path + event.job, event.result, now);
  }

  /** Says what a step does, or no more. */
  tellActivity(path: string, activity: string | undefined, job = ""): void {
    const node = this.nodeAt(path, job);
    if (node?.status === "running") node.activity = activity;
  }

  /** The numbers of the steps that have ended, without those around others; of a pipeline, those of its jobs. */
  counts(): ProgressCounts {
    const counts = { passed: 0, failed: 0, allowed: 0, skipped: 0, cancelled: 0 };
    const nodes = this.#isPipeline ? this.root.children : leavesOf(this.root);
    for (const node of nodes) {
      if (node.status === "running" || this.#uncounted.has(node)) continue;
      if (node.status === "success") counts.passed += 1;
      else if (node.status === "skipped") counts.skipped += 1;
      else if (node.status === "cancelled") counts.cancelled += 1;
      else if (node.isAllowed === true) counts.allowed += 1;
      else counts.failed += 1;
    }
    return counts;
  }

  #jobAt(job: string): ProgressNode | undefined {
    return this.#isPipeline ? this.#nodes.get(keyOf(job, "")) : this.root;
  }

  #startRun({ job: { name } }: StepEventOf<"run-started">, job: string): void {
    const node = this.#jobAt(job);
    if (!this.#isPipeline && name !== undefined && name !== "") (node as { label: string }).label = `job ${name}`;
  }

  #open({ path, name, reference, at, phase }: StepEventOf<"step-opened">, job: string): void {
    const end = path.lastIndexOf("/");
    const parent = this.nodeAt(end < 0 ? "" : path.slice(0, end), job);
    if (parent === undefined || path === "") return;
    const index = Number(path.slice(end + 1));
    const { plan } = parent;
    const attempts = plan?.attempts;
    const label =
      attempts === undefined ? shownLabel({ path, name, reference }) : `attempt ${index + 1} of ${attempts}`;
    const shown = phase === undefined ? label : `${phase} ${label}`;
    const node = newNode(shown, at, {
      path,
      isNamed: name !== "",
      isAttempt: attempts !== undefined,
      isParallel: plan?.isParallel === true,
      // The name is that of the step behind the name of the phase.
      owner: phase === undefined ? undefined : label.slice(phase.length + 1),
    });
    const retried = plan?.attemptsOf(index);
    if (retried !== undefined)
      node.plan = { isParallel: false, count: 0, attempts: retried, attemptsOf: () => undefined };
    parent.activity = undefined;
    parent.children.push(node);
    this.#nodes.set(keyOf(job, path), node);
  }

  #plan({ path, specDefinition }: StepEventOf<"step-planned">, job: string): void {
    const node = this.nodeAt(path, job);
    if (node === undefined) return;
    // The plan of a step that is retried is that of its attempts.
    if (node.plan?.attempts === undefined) node.plan = planOf(specDefinition);
    if (node.status === "running") node.activity = undefined;
  }

  #startProcess({ path, command }: StepEventOf<"process-starting">, job: string): void {
    const node = this.nodeAt(path, job);
    if (node !== undefined) node.command = command;
    const lines = (scriptOf(command) ?? command.join(" ")).split("\n").map((line) => line.trim());
    const first = lines.find((line) => line !== "" && !line.startsWith("#")) ?? "";
    // A script that the runner has made begins with what is nobody's business.
    this.tellActivity(path, first.startsWith("trap ") ? undefined : `$ ${first}`, job);
  }

  #finish(event: StepEventOf<"step-finished">, job: string): void {
    const node = this.nodeAt(event.path, job);
    if (node === undefined || event.path === "") return;
    const { exitCode, signal, skipReason, conclusion } = event;
    close(node, event.status, event.at);
    Object.assign(node, { exitCode, signal, reason: skipReason });
    const end = event.path.lastIndexOf("/");
    const parent = this.nodeAt(end < 0 ? "" : event.path.slice(0, end), job);
    const index = Number(event.path.slice(end + 1));
    node.isAllowed = conclusion === "success" || parent?.plan?.allowsFailureOf?.(index) === true;
    const isRetried = node.isAttempt && event.status !== "success" && index + 1 < (parent?.plan?.attempts ?? 0);
    if (isRetried && parent !== undefined) parent.activity = "waits before the next attempt";
  }

  #startJob(name: string, now: number): ProgressNode {
    const key = keyOf(name, "");
    const known = this.#nodes.get(key);
    if (known !== undefined) {
      known.activity = undefined;
      return known;
    }
    const node = newNode(name, now);
    this.#nodes.set(key, node);
    this.root.children.push(node);
    return node;
  }

  #endJob(name: string, result: Ended, now: number): ProgressNode {
    const node = this.#startJob(name, now);
    close(node, result.status, now);
    node.isAllowed = result.isAllowedToFail === true;
    node.reason = result.status === "success" ? undefined : result.reason;
    // The reason says why, and a pipeline has too many steps to show those of jobs that have passed.
    if (result.status === "success") node.children.length = 0;
    return node;
  }
}

type Ended = Extract<PipelineEvent, { readonly type: "instance-ended" }>["result"];

function newNode(
  label: string,
  startedAt: number,
  {
    path = "",
    isNamed = true,
    isAttempt = false,
    isParallel = false,
    owner,
  }: Partial<Pick<ProgressNode, "path" | "isNamed" | "isAttempt" | "isParallel" | "owner">> = {},
): ProgressNode {
  return { label, path, startedAt, isNamed, isAttempt, isParallel, owner, children: [], status: "running" };
}

function close(node: ProgressNode, status: NodeStatus, at: number): void {
  node.status = status;
  node.endedAt = at;
  node.activity = undefined;
}

function keyOf(job: string, path: string): string {
  return `${path}\n${job}`;
}

function* leavesOf(node: ProgressNode): Generator<ProgressNode> {
  for (const child of node.children) {
    const isLeaf = child.children.every(({ isAttempt }) => isAttempt);
    if (isLeaf) yield child;
    else yield* leavesOf(child);
  }
}
