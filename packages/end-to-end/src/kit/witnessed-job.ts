import { existsSync } from "node:fs";
import { join } from "node:path";
import type { decodeTrace } from "@steps/trace";
import { createHash } from "node:crypto";
import type { Random } from "./random.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;
type Record_ = NonNullable<Trace["root"]>;

/** A job whose steps leave files behind that say, whatever the trace says, what really ran. */
export interface WitnessedJob {
  /** The list of steps as JSON. */
  readonly steps: string;
  /** The steps that run processes, in the order of the list. */
  readonly leaves: readonly Leaf[];
}

interface Leaf {
  readonly name: string;
  /** The parallel group that it is in; leaves of one group have no order among each other. */
  readonly group: number | undefined;
}

/** Three to eight processes in lists within lists, some of them side by side; each takes up to 60 ms. */
export function witnessedJob(random: Random, last = ""): WitnessedJob {
  const leaves: Leaf[] = [];
  let groups = 0;
  const leaf = (group: number | undefined): object => {
    const name = `s${leaves.length}`;
    leaves.push({ name, group });
    return { name, script: scriptOf(name, random.int(0, 60)) };
  };
  const list = (depth: number, group: number | undefined): object[] =>
    Array.from({ length: random.int(1, 3) }, () => item(depth, group));
  const item = (depth: number, group: number | undefined): object => {
    const kind = depth >= 2 ? 0 : random.next();
    if (kind < 0.6) return leaf(group);
    const name = `g${leaves.length}x${depth}`;
    if (kind < 0.8) return { name, steps: list(depth + 1, group) };
    return { name, parallel: list(2, group ?? groups++) };
  };
  const steps = [leaf(undefined), ...list(0, undefined), leaf(undefined), leaf(undefined)];
  if (last !== "") steps.push({ name: "last", script: last });
  return { steps: JSON.stringify(steps), leaves };
}

function scriptOf(name: string, ms: number): string {
  const output = JSON.stringify({ name: "value", value: `of ${name}` });
  return [
    `echo s >>${name}.began`,
    `sleep ${(ms / 1000).toFixed(3)}`,
    `echo "log of ${name}"`,
    `printf '%s\\n' '${output}' >>"$STEP_OUTPUT_FILE"`,
    `echo s >>${name}.ended`,
  ].join("; ");
}

function flatten(records: readonly Record_[]): Record_[] {
  return records.flatMap((record) => [record, ...flatten(record.children ?? [])]);
}

/**
 * Returns the statements of a trace that the files in the work directory contradict, and the facts that they prove and
 * the trace leaves out.
 */
export function liesOf(trace: Trace, { leaves }: WitnessedJob, work: string): string[] {
  const records = flatten(trace.root === undefined ? [] : [trace.root]);
  const ran = (name: string, what: "began" | "ended"): boolean => existsSync(join(work, `${name}.${what}`));
  return leaves.flatMap(({ name, group }, index) => {
    const record = records.find((candidate) => candidate.name === name);
    const status = record?.det?.status;
    if (record === undefined) return ran(name, "began") ? [`${name} ran, and the trace has no record of it`] : [];
    if (status === "success") return successLies(record, name, ran(name, "ended"));
    const found = status === "interrupted" ? [] : [`${name} is told as ${status}`];
    // A step that began later proves that this one had ended.
    const isProven = leaves.some(
      (later, place) => place > index && (group === undefined || later.group !== group) && ran(later.name, "began"),
    );
    return isProven ? [...found, `${name} had ended before the next began, and is told as ${status}`] : found;
  });
}

function successLies(record: Record_, name: string, hasEnded: boolean): string[] {
  const sha256 = createHash("sha256").update(`log of ${name}\n`).digest("hex");
  const outputs = JSON.stringify(record.det?.outputs);
  return [
    ...(hasEnded ? [] : [`${name} is told as ended, and has not`]),
    ...(outputs === JSON.stringify({ value: { value: `of ${name}` } }) ? [] : [`${name} has outputs ${outputs}`]),
    ...(record.det?.stdout?.sha256 === sha256 ? [] : [`the log of ${name} is not what it wrote`]),
  ];
}
