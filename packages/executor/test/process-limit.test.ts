import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Cancelled, Spawner } from "../src/index.ts";
import { ProcessLimit } from "../src/process/process-limit.ts";
import { eventOf, item, type Ran, run, sequence, sh, statuses } from "./harness.ts";

const atOnce = { isParallel: true } as const;

function notes({ events }: Ran): readonly string[] {
  return events.flatMap((event) => (event.type === "note" ? [event.code] : []));
}

test("steps at once have no more processes than there is room for, and all of them run", async () => {
  const dir = mkdtempSync(join(tmpdir(), "process-limit-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const script = `touch ${dir}/$$; ls ${dir} | wc -l; rm ${dir}/$$`;
  const steps = Array.from({ length: 20 }, () => item(sh(script)));
  const ran = await run(sequence(steps, atOnce), { processes: new ProcessLimit(3) });
  expect(ran.outcome).toEqual({ status: "success" });
  const counts = ran.output.trimEnd().split("\n").map(Number);
  expect(counts).toHaveLength(20);
  expect(counts.filter((count) => !(count >= 1 && count <= 3))).toEqual([]);
  expect(notes(ran)).toEqual(["processes-wait"]);
});

test("steps that run other steps at once hold no room for them", async () => {
  const inner = item(sequence([item(sh("echo x")), item(sh("echo x"))], atOnce));
  const outer = Array.from({ length: 5 }, () => item(sequence([inner, inner], atOnce)));
  const ran = await run(sequence(outer, atOnce), {
    processes: new ProcessLimit(1),
  });
  expect(ran.outcome).toEqual({ status: "success" });
  expect(ran.output).toBe("x\n".repeat(20));
});

test("a step that waits for room ends with its time, and without a process", async () => {
  const controller = new AbortController();
  const slow = item(sh("exec sleep 60"));
  const timed = item(sh("echo never"), { control: { timeoutMs: 10 } });
  const ran = await run(sequence([slow, timed], atOnce), {
    processes: new ProcessLimit(1),
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === "step-finished" && event.path === "1") controller.abort(new Cancelled());
    },
  });
  expect(ran.events.flatMap((event) => (event.type === "process-starting" ? [event.path] : []))).not.toContain("1");
  expect(eventOf(ran, "step-finished", "1")).toMatchObject({ status: "timeout", error: { code: "TIMEOUT" } });
});

test("steps that wait for room are cancelled at once, and what runs in any case still runs", async () => {
  const controller = new AbortController();
  const steps = [item(sh("exec sleep 60")), item(sh("echo never")), item(sh("echo never"))];
  const ran = await run(sequence(steps, { ...atOnce, finally: [item(sh("echo last"))] }), {
    processes: new ProcessLimit(1),
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === "note") controller.abort(new Cancelled());
    },
  });
  expect(ran.outcome.status).toBe("cancelled");
  expect(ran.output).toBe("last\n");
  expect(statuses(ran.events)).toEqual(expect.arrayContaining(["1:cancelled", "2:cancelled"]));
  expect(ran.events.filter((event) => event.type === "process-starting").map(({ path }) => path)).toEqual(["0", "3"]);
});

test("two runs share the limit", async () => {
  const processes = new ProcessLimit(1);
  const list = sequence(
    Array.from({ length: 5 }, () => item(sh("echo x"))),
    atOnce,
  );
  const both = await Promise.all([run(list, { processes }), run(list, { processes })]);
  expect(both.map(({ outcome, output }) => [outcome.status, output])).toEqual([
    ["success", "x\n".repeat(5)],
    ["success", "x\n".repeat(5)],
  ]);
  expect(processes.taken).toBe(0);
});

/** Says a number of times that the system has no room for a process that prints `refused`. */
class RefusingSpawner extends Spawner {
  attempts = 0;
  readonly #refusals: number;
  readonly #code: string;

  constructor(refusals: number, code: string) {
    super();
    this.#refusals = refusals;
    this.#code = code;
  }

  override spawn(...given: Parameters<Spawner["spawn"]>): ReturnType<Spawner["spawn"]> {
    if (given[0].command.at(-1) !== "echo refused") return super.spawn(...given);
    this.attempts += 1;
    if (this.attempts > this.#refusals) return super.spawn(...given);
    return Promise.resolve({ spawnError: Object.assign(new Error("no room"), { code: this.#code }) });
  }
}

test.each(["EAGAIN", "EMFILE", "ENFILE"])("a step that the system refuses with %s is tried again", async (code) => {
  const dir = mkdtempSync(join(tmpdir(), "process-limit-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  await using spawner = new RefusingSpawner(1, code);
  const ran = await run(
    sequence([item(sh(`until [ -e ${dir}/gate ]; do sleep 0.05; done`)), item(sh("echo refused"))], atOnce),
    {
      spawner,
      processes: new ProcessLimit(),
      onEvent: (event) => {
        if (event.type === "note") writeFileSync(join(dir, "gate"), "");
      },
    },
  );
  expect(ran.outcome).toEqual({ status: "success" });
  expect(ran.output).toBe("refused\n");
  expect(spawner.attempts).toBe(2);
  expect(ran.events.filter((event) => event.type === "process-starting")).toHaveLength(2);
});

test("a step that the system refuses fails where no other could make room", async () => {
  await using spawner = new RefusingSpawner(1, "EAGAIN");
  const ran = await run(sequence([item(sh("echo x")), item(sh("echo refused"))]), {
    spawner,
    processes: new ProcessLimit(),
  });
  expect(ran.outcome).toMatchObject({ status: "error", error: { code: "SPAWN_FAILED" } });
  expect(ran.outcome.error?.message).toContain("the system allows no more processes");
  expect(notes(ran)).toEqual([]);
});

test("a step that the system refused is cancelled while it waits", async () => {
  const controller = new AbortController();
  await using spawner = new RefusingSpawner(Number.POSITIVE_INFINITY, "EAGAIN");
  const ran = await run(sequence([item(sh("exec sleep 60")), item(sh("echo refused"))], atOnce), {
    spawner,
    processes: new ProcessLimit(),
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === "note") controller.abort(new Cancelled());
    },
  });
  expect(statuses(ran.events)).toEqual(expect.arrayContaining(["0:cancelled", "1:cancelled"]));
  expect(ran.output).toBe("");
});
