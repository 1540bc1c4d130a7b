import { describe, expect, test } from "vitest";
import type { JobResult, PipelineEvent } from "@steps/model/pipeline";
import type { Decision, Instance, PipelineJob } from "./pipeline-job.ts";
import type { JobPlaces } from "./job-run.ts";
import { Places } from "./places.ts";
import { runPipeline } from "./run-pipeline.ts";

const success: JobResult = { status: "success" };
const failure: JobResult = { status: "failure" };

function once(name: string, more: Partial<Instance<string>> = {}): Decision<string> {
  return { run: { instances: [{ name, work: name, ...more }] } };
}

function job(id: string, needs: string[], decide: PipelineJob<string>["decide"] = () => once(id)): PipelineJob<string> {
  return { id, needs, decide };
}

/** Work that ends when the test says so. */
function hands(): {
  readonly begun: string[];
  readonly run: (work: string, signal: AbortSignal) => Promise<JobResult>;
  readonly end: (work: string, result?: JobResult) => Promise<void>;
} {
  const ends = new Map<string, (result: JobResult) => void>();
  const begun: string[] = [];
  return {
    begun,
    run: (work, signal) => {
      begun.push(work);
      const { promise, resolve } = Promise.withResolvers<JobResult>();
      ends.set(work, resolve);
      signal.addEventListener("abort", () => resolve({ status: "cancelled" }));
      return promise;
    },
    end: async (work, result = success) => {
      ends.get(work)?.(result);
      await settled();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("runPipeline()", () => {
  test("runs a job after those that it needs, and gives the results in the order of their ends", async () => {
    const { begun, run, end } = hands();
    const results = runPipeline([job("deploy", ["test", "build"]), job("test", []), job("build", [])], {
      places: new Places(9),
      run,
    });
    await settled();
    expect(begun).toEqual(["test", "build"]);
    await end("build");
    expect(begun).toEqual(["test", "build"]);
    await end("test", failure);
    await end("deploy");
    expect([...(await results)].map(([id, { status }]) => `${id} ${status}`)).toEqual([
      "build success",
      "test failure",
      "deploy success",
    ]);
  });

  test("gives its places in the order of the jobs", async () => {
    const { begun, run, end } = hands();
    const results = runPipeline(
      ["a", "b", "c", "d"].map((id) => job(id, [])),
      { places: new Places(2), run },
    );
    await settled();
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
    for (const id of ["a", "c", "d"]) await end(id);
    expect((await results).size).toBe(4);
  });

  test("lets a job decide by the results of its needs, and end without running", async () => {
    const events: PipelineEvent[] = [];
    const decide: PipelineJob<string>["decide"] = (results) =>
      results.get("a")?.status === "success" ? once("b") : { result: { status: "skipped", reason: '"a" failed' } };
    const results = await runPipeline([job("a", []), job("b", ["a"], decide)], {
      places: new Places(1),
      run: () => Promise.resolve(failure),
      onEvent: (event) => events.push(event),
    });
    expect(results.get("b")).toEqual({ status: "skipped", reason: '"a" failed' });
    expect(events.map(({ type, ...rest }) => [type, "instance" in rest ? rest.instance : rest.job])).toEqual([
      ["job-decided", "a"],
      ["instance-started", "a"],
      ["instance-ended", "a"],
      ["job-ended", "a"],
      ["job-decided", "b"],
      ["job-ended", "b"],
    ]);
  });

  test("runs so many instances of a matrix at once as the job allows", async () => {
    const { begun, run, end } = hands();
    const instances = ["1", "2", "3"].map((name) => ({ name, work: name }));
    const results = runPipeline([job("m", [], () => ({ run: { instances, maxParallel: 2 } }))], {
      places: new Places(9),
      run,
    });
    await settled();
    expect(begun).toEqual(["1", "2"]);
    await end("1", { status: "success", outputs: { a: "1", b: "1" } });
    expect(begun).toEqual(["1", "2", "3"]);
    await end("3", { status: "success", outputs: { a: "", b: "3" } });
    await end("2", { status: "success", outputs: { c: "2" } });
    expect((await results).get("m")).toEqual({ status: "success", outputs: { a: "1", b: "3", c: "2" } });
  });

  test("cancels the other instances at the first failure only if the job says so", async () => {
    const instances = ["1", "2", "3"].map((name) => ({ name, work: name }));
    for (const isFailFast of [true, false]) {
      const { begun, run, end } = hands();
      const events: PipelineEvent[] = [];
      const results = runPipeline([job("m", [], () => ({ run: { instances, isFailFast, maxParallel: 2 } }))], {
        places: new Places(9),
        run,
        onEvent: (event) => events.push(event),
      });
      await settled();
      await end("1", failure);
      if (!isFailFast) for (const name of ["2", "3"]) await end(name);
      expect((await results).get("m")?.status).toBe("failure");
      expect(begun).toEqual(isFailFast ? ["1", "2"] : ["1", "2", "3"]);
      const cancelled = events.filter(
        (event) => event.type === "instance-ended" && event.result.status === "cancelled",
      );
      expect(cancelled.length).toBe(isFailFast ? 2 : 0);
    }
  });

  test("does not take an allowed failure for the end of a matrix", async () => {
    const instances = ["1", "2"].map((name) => ({ name, work: name }));
    const results = await runPipeline([job("m", [], () => ({ run: { instances, isFailFast: true } }))], {
      places: new Places(1),
      run: (work) => Promise.resolve(work === "1" ? { ...failure, isAllowedToFail: true } : success),
    });
    expect(results.get("m")).toMatchObject({ status: "failure", isAllowedToFail: true });
  });

  test("runs one instance of a group at a time", async () => {
    const { begun, run, end } = hands();
    const jobs = ["a", "b", "c"].map((id) => job(id, [], () => once(id, id === "c" ? {} : { group: "production" })));
    const results = runPipeline(jobs, { places: new Places(9), run });
    await settled();
    expect(begun).toEqual(["a", "c"]);
    await end("a");
    expect(begun).toEqual(["a", "c", "b"]);
    await end("c");
    await end("b");
    await results;
  });

  test("waits for the turn of a group among pipelines before it takes a place, and gives it back", async () => {
    const told: string[] = [];
    const jobs = [job("a", [], () => once("a", { group: "production" })), job("b", [])];
    const turn = Promise.withResolvers<void>();
    const results = await runPipeline(jobs, {
      places: new Places(1),
      run: (work) => {
        told.push(work);
        if (work === "b") turn.resolve();
        return Promise.resolve(success);
      },
      enterGroup: async (group) => {
        told.push(`enter ${group}`);
        await turn.promise;
        return () => Promise.resolve(void told.push(`leave ${group}`));
      },
    });
    expect(results.size).toBe(2);
    expect(told).toEqual(["enter production", "b", "a", "leave production"]);
  });

  test("cancels an instance that waits for the turn of its group", async () => {
    const cancel = new AbortController();
    const results = await runPipeline([job("a", [], () => once("a", { group: "g" }))], {
      places: new Places(1),
      run: () => Promise.resolve(success),
      signal: cancel.signal,
      enterGroup: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
          cancel.abort();
        }),
    });
    expect(results.get("a")?.status).toBe("cancelled");
  });

  test("gives an inner pipeline the places of the outer one", async () => {
    const places: JobPlaces = new Places(1);
    const order: string[] = [];
    const inner: PipelineJob<string>[] = [job("inner 1", []), job("inner 2", [])];
    const run = async (work: string): Promise<JobResult> => {
      order.push(work);
      if (work !== "call") return success;
      const results = await runPipeline(inner, { places, run });
      return { status: results.size === 2 ? "success" : "failure" };
    };
    const jobs = [job("call", [], () => once("call", { holdsNoPlace: true })), job("last", ["call"])];
    expect((await runPipeline(jobs, { places, run })).get("call")).toEqual(success);
    expect(order).toEqual(["call", "inner 1", "inner 2", "last"]);
  });

  test("starts an instance after its delay, which takes no place", async () => {
    const { begun, run, end } = hands();
    const jobs = [job("late", [], () => once("late", { delayMs: 30 })), job("now", [])];
    const events: PipelineEvent[] = [];
    const results = runPipeline(jobs, {
      places: new Places(1),
      run: async (work, signal) => (work === "late" ? success : run(work, signal)),
      onEvent: (event) => events.push(event),
    });
    await settled();
    expect(begun).toEqual(["now"]);
    expect(events).toContainEqual({ type: "instance-delayed", job: "late", instance: "late", delayMs: 30 });
    await end("now");
    expect((await results).get("late")).toEqual(success);
  });

  test("when cancelled it cancels what runs and what waits, and asks the rest", async () => {
    const { begun, run, end } = hands();
    const cancel = new AbortController();
    const always = job("always", ["a"], () => once("always"));
    const other = job("other", ["a"], (_, { isCancelled }) => ({
      result: { status: isCancelled ? "cancelled" : "success" },
    }));
    const late = job("late", [], () => once("late", { delayMs: 3_600_000 }));
    const jobs = [job("a", []), job("waiting", []), late, always, other];
    const results = runPipeline(jobs, { places: new Places(1), run, signal: cancel.signal });
    await settled();
    cancel.abort();
    await settled();
    await end("always");
    const statuses = [...(await results)].map(([id, { status }]) => [id, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      a: "cancelled",
      waiting: "cancelled",
      late: "cancelled",
      other: "cancelled",
      always: "success",
    });
    expect(begun).toEqual(["a", "always"]);
  });

  test("throws what a run threw, after all instances have ended", async () => {
    const { run, begun } = hands();
    const broken = new Error("no disk");
    const ended: string[] = [];
    const failing = runPipeline([job("a", []), job("b", []), job("c", ["a"])], {
      places: new Places(2),
      run: (work, signal) => (work === "b" ? Promise.reject(broken) : run(work, signal)),
      onEvent: (event) => event.type === "instance-ended" && ended.push(event.instance),
    });
    await expect(failing).rejects.toBe(broken);
    expect(ended).toEqual(["a"]);
    expect(begun).toEqual(["a"]);
  });

  test("throws what a decision threw", async () => {
    const wrong = new Error("wrong matrix");
    const failing = runPipeline([job("a", [], () => Promise.reject(wrong))], {
      places: new Places(1),
      run: () => Promise.resolve(success),
    });
    await expect(failing).rejects.toBe(wrong);
  });

  test("refuses jobs that make no graph", async () => {
    const jobs = [job("a", ["b"]), job("b", ["a"]), job("c", ["x"])];
    await expect(
      runPipeline(jobs, { places: new Places(1), run: () => Promise.resolve(success) }),
    ).rejects.toMatchObject({
      code: "GRAPH_INVALID",
      message: 'the job "c" needs "x", which is not there; these jobs need each other: a → b → a',
    });
  });

  test("runs nothing where there is nothing", async () => {
    expect((await runPipeline([], { places: new Places(1), run: () => Promise.resolve(success) })).size).toBe(0);
  });
});
