import { mapObject, type Status, type Value } from "@steps/model";
import type { SpecDefinitionJson, StepJson, StepResult_StatusJson, StepResultJson } from "@steps/proto";
import type { JournalEvent, JournalProcessStarting, JournalStepFinished, JournalStepPlanned } from "./journal-event.ts";
import { plainStrings, plainValues } from "./plain.ts";
import { invocationOf } from "./step-draft.ts";

/** Folds the events of a run into GitLab's `StepResult`, as its step runner would write it (conformance section 17). */
export interface ResultTree {
  apply(event: JournalEvent): void;
  /** The result so far, in protobuf's JSON form: zero values are absent. */
  result(): StepResultJson;
}

interface Node {
  readonly parent: Node | undefined;
  name: string;
  plan: JournalStepPlanned | undefined;
  process: JournalProcessStarting | undefined;
  end: JournalStepFinished | undefined;
  env: Readonly<Record<string, string>>;
  readonly children: Node[];
}

const STATUSES: Readonly<Record<Status, StepResult_StatusJson>> = {
  success: "success",
  skipped: "success",
  failure: "failure",
  error: "failure",
  timeout: "failure",
  interrupted: "failure",
  cancelled: "cancelled",
};

/** The result of one run. */
export function createResultTree(): ResultTree {
  const root = createNode(undefined);
  const nodes = new Map<string, Node>([["", root]]);
  const base: Record<string, string> = {};
  const exported: Record<string, string> = {};
  let outcome: Status | undefined;
  let outputs: Readonly<Record<string, Value>> = {};

  return {
    apply(event) {
      switch (event.type) {
        case "run-started":
          Object.assign(base, plainStrings(event.job.env));
          return;
        case "step-opened":
          nodeAt(nodes, event.path).name = event.name;
          return;
        case "step-planned": {
          const node = nodeAt(nodes, event.path);
          node.plan = event;
          node.env = { ...base, ...exported, ...layersOf(node) };
          return;
        }
        case "process-starting": {
          const node = nodeAt(nodes, event.path);
          node.process = event;
          node.env = plainStrings(event.env);
          return;
        }
        case "step-finished":
          nodeAt(nodes, event.path).end = event;
          Object.assign(exported, plainStrings(event.exports));
          return;
        case "run-finished":
          outcome = event.outcome.status;
          outputs = plainValues(event.outputs);
          return;
        case "variable-read":
        case "secret-found":
        case "component-resolved":
        case "process-started":
        case "note":
          return;
      }
    },
    result() {
      const result = encodeNode(root);
      if (root.end !== undefined || outcome === undefined) return result;
      return { ...result, status: STATUSES[outcome], ...unlessEmpty("outputs", outputs) };
    },
  };
}

/** The node of the step with a path; those above it are made with it, up to the root, which is there. */
function nodeAt(nodes: Map<string, Node>, path: string): Node {
  const known = nodes.get(path);
  if (known) return known;
  const parent = nodeAt(nodes, path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
  const node = createNode(parent);
  parent.children.push(node);
  nodes.set(path, node);
  return node;
}

function createNode(parent: Node | undefined): Node {
  return { parent, name: "", plan: undefined, process: undefined, end: undefined, env: {}, children: [] };
}

/**
 * Returns the environment that the levels from the job down to the step declared; an invocation wins over the
 * definition that it invokes.
 */
function layersOf(node: Node): Record<string, string> {
  const outer = node.parent ? layersOf(node.parent) : {};
  if (!node.plan) return outer;
  return { ...outer, ...plainStrings(node.plan.definitionEnv), ...plainStrings(node.plan.invocation.env) };
}

function encodeNode({ name, plan, process, end, env, children }: Node): StepResultJson {
  const step: StepJson = plan ? invocationOf(name, plan) : name === "" ? {} : { name };
  // A step that could not be loaded has no result.
  const results = children.filter((child) => child.plan !== undefined).map(encodeNode);
  const specDefinition: SpecDefinitionJson | undefined = plan?.specDefinition;
  return {
    step,
    ...(specDefinition ? { specDefinition } : {}),
    status: end ? STATUSES[end.status] : "running",
    ...unlessEmpty("outputs", plainValues(end?.outputs ?? {})),
    ...unlessEmpty("exports", plainStrings(end?.exports ?? {})),
    ...unlessEmpty("env", env),
    ...(process ? { execResult: encodeProcess(process, end) } : {}),
    ...(results.length === 0 ? {} : { subStepResults: results }),
  };
}

function encodeProcess(
  process: JournalProcessStarting,
  end: JournalStepFinished | undefined,
): NonNullable<StepResultJson["execResult"]> {
  return {
    ...(process.command.length === 0 ? {} : { command: [...process.command] }),
    ...(process.workDir === "" ? {} : { workDir: process.workDir }),
    ...(end?.exitCode === undefined || end.exitCode === 0 ? {} : { exitCode: end.exitCode }),
  };
}

function unlessEmpty<Key extends string, T>(
  key: Key,
  record: Readonly<Record<string, T>>,
): { [K in Key]?: Record<string, T> } {
  if (Object.keys(record).length === 0) return {};
  return { [key]: mapObject(record, (item) => item) } as { [K in Key]?: Record<string, T> };
}
