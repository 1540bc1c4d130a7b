import { contentOf } from "./job-content.ts";
import type { LedgerLine } from "./ledger.ts";
import type { OwnedJob, Owner } from "./owner.ts";

/** The tag of the jobs that our own runner runs. */
export const REAL_TAG = "real";

const FINAL: ReadonlySet<string> = new Set(["success", "failed", "canceled", "skipped"]);

/** Compares what a pod has of its jobs with what their runners know of them. Gives what does not hold. */
export async function judge(owner: Owner, jobs: readonly OwnedJob[], ledger: readonly LedgerLine[]): Promise<string[]> {
  const lines = Map.groupBy(ledger, ({ id }) => id);
  const wrong: string[] = [];
  for (const job of jobs) {
    const say = (what: string): void =>
      void wrong.push(`job ${job.id} (${job.state}, attempt ${job.attempt}): ${what}`);
    if (!FINAL.has(job.state)) say("it has not ended");
    else if (job.tags.includes(REAL_TAG)) await judgeReal(owner, job, say);
    else await judgeJob(owner, job, lines.get(job.id) ?? [], say);
  }
  return wrong;
}

type Say = (what: string) => void;

async function judgeJob(owner: Owner, job: OwnedJob, lines: readonly LedgerLine[], say: Say): Promise<void> {
  const taken = lines.filter(({ saw }) => ["accepted", "stored", "uploaded", "ended"].includes(saw));
  const attempts = new Set(taken.map(({ attempt }) => attempt));
  if (attempts.size > 1) say(`the attempts ${[...attempts].join(" and ")} were accepted`);
  if (new Set(lines.filter(({ saw }) => saw === "given").map(({ attempt }) => attempt)).size !== countGiven(lines))
    say("one attempt was given to two runners");
  for (const line of lines) {
    if (line.saw === "wrong") say(line.what);
    if (line.saw === "reset") say("bytes were gone that the pod had confirmed");
    if (line.saw === "ended" && line.state !== job.state) say(`its runner was told ${line.state}`);
  }
  const [accepted] = attempts;
  if (accepted !== undefined && accepted !== job.attempt) say(`attempt ${accepted} had been accepted`);
  await judgeBytes(owner, job, lines, say);
}

function countGiven(lines: readonly LedgerLine[]): number {
  return lines.filter(({ saw }) => saw === "given").length;
}

/** The trace is a part of what the attempt wrote, from its start on, with all that was confirmed; after a success it is all of it. */
async function judgeBytes(owner: Owner, job: OwnedJob, lines: readonly LedgerLine[], say: Say): Promise<void> {
  const expected = contentOf(job.name, job.id, job.attempt);
  const trace = await owner.trace(job.id, job.trace_size);
  const confirmed = Math.max(0, ...lines.map((line) => (line.saw === "stored" ? line.size : 0)));
  if (!trace.equals(expected.trace.subarray(0, trace.length))) say("its trace has other bytes than its runner sent");
  if (trace.length < confirmed) say(`${confirmed} bytes of its trace were confirmed, ${trace.length} are there`);
  if (job.trace_damaged) say("its trace is damaged");
  const isWhole = job.state === "success";
  if (isWhole && trace.length !== expected.trace.length) say(`its trace has ${trace.length} bytes`);
  const wanted = isWhole || lines.some(({ saw }) => saw === "uploaded") ? expected.artifact : undefined;
  const hasArtifact = job.artifacts.some(({ type }) => type === "archive");
  if (wanted !== undefined && !hasArtifact) say("its artifact is gone");
  if (hasArtifact && expected.artifact?.equals(await owner.artifact(job.id)) !== true) say("its artifact is another");
}

/** Compares the trace of a job of our runner with all that its script wrote, once. */
async function judgeReal(owner: Owner, job: OwnedJob, say: Say): Promise<void> {
  if (job.state !== "success") return;
  const trace = (await owner.trace(job.id, job.trace_size)).toString();
  const found = trace.split("\n").filter((line) => /^n\d+$/.test(line));
  const expected = Array.from({ length: REAL_LINES }, (_, at) => `n${at + 1}`);
  if (found.join() !== expected.join()) say(`its script wrote ${REAL_LINES} lines, ${found.length} are in the trace`);
  if (job.trace_damaged) say("its trace is damaged");
}

const REAL_LINES = 40;

/** The script of the jobs that our own runner runs; it takes some seconds. */
export const REAL_SCRIPT = `i=0; while [ $i -lt ${REAL_LINES} ]; do i=$((i+1)); echo n$i; [ $((i % 10)) = 0 ] && sleep 0.5; done; true`;
