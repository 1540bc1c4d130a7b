import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { PipelineEvent } from "@steps/model/pipeline";
import { type JobResult, type PipelineJob, Places, runPipeline } from "./index.ts";

interface Plan {
  readonly needs: readonly number[];
  readonly turns: readonly number[];
  readonly group?: string | undefined;
  readonly maxParallel?: number | undefined;
}

// Needs point to earlier jobs, so that there is no circle.
const plans = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat(1000), { maxLength: 4 }),
      turns: fc.array(fc.nat(3), { maxLength: 4 }),
      group: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
      maxParallel: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
    { maxLength: 12 },
  )
  .map((list): Plan[] => list.map((plan, i) => ({ ...plan, needs: i === 0 ? [] : plan.needs.map((n) => n % i) })));

interface Work {
  readonly job: number;
  readonly turns: number;
  readonly group?: string | undefined;
}

function jobsOf(list: readonly Plan[]): PipelineJob<Work>[] {
  return list.map(({ needs, turns, group, maxParallel }, i) => ({
    id: `job ${i}`,
    needs: needs.map((need) => `job ${need}`),
    decide: (results) => {
      for (const need of needs) expect(results.has(`job ${need}`)).toBe(true);
      const instances = turns.map((count, n) => ({ name: `${i}.${n}`, work: { job: i, turns: count, group }, group }));
      return { run: { instances, maxParallel } };
    },
  }));
}

test("runPipeline() ends each job and instance once, after its needs, and never gives more places than there are", async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.integer({ min: 1, max: 4 }), async (list, maxJobs) => {
      const now: Work[] = [];
      const events: PipelineEvent[] = [];
      const run = async (work: Work): Promise<JobResult> => {
        now.push(work);
        expect(now.length).toBeLessThanOrEqual(maxJobs);
        if (work.group !== undefined) expect(now.filter(({ group }) => group === work.group).length).toBe(1);
        const siblings = now.filter(({ job }) => job === work.job).length;
        expect(siblings).toBeLessThanOrEqual(list[work.job]?.maxParallel ?? Number.POSITIVE_INFINITY);
        for (let turn = 0; turn < work.turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        now.splice(now.indexOf(work), 1);
        return { status: "success" };
      };
      const results = await runPipeline(jobsOf(list), {
        places: new Places(maxJobs),
        run,
        onEvent: (event) => events.push(event),
      });
      expect(results.size).toBe(list.length);
      const count = (type: PipelineEvent["type"]): number => events.filter((event) => event.type === type).length;
      const instances = list.flatMap(({ turns }) => turns).length;
      expect([count("job-ended"), count("instance-started"), count("instance-ended")]).toEqual([
        list.length,
        instances,
        instances,
      ]);
    }),
    { numRuns: 200 },
  );
});

test("runPipeline() runs ten thousand jobs behind one gate", async () => {
  const members = Array.from({ length: 10_000 }, (_, i) => `job ${i}`);
  const decide =
    (id: string): PipelineJob<string>["decide"] =>
    () => ({ run: { instances: [{ name: id, work: id }] } });
  const jobs: PipelineJob<string>[] = [
    ...members.map((id) => ({ id, needs: [], decide: decide(id) })),
    { id: "gate", needs: members, decide: () => ({ result: { status: "success" } }) },
    ...members.map((id) => ({ id: `${id} after`, needs: ["gate"], decide: decide(`${id} after`) })),
  ];
  const results = await runPipeline(jobs, { places: new Places(2), run: () => Promise.resolve({ status: "success" }) });
  expect(results.size).toBe(20_001);
});
