import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGitRepository, startGitHttpServer, tempDir } from "@steps/testkit";
import { compileStepList } from "@steps/compiler";
import type { Job } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import { verifyTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import { createEngine, type Engine, type RunHooks, type RunOptions, type RunResult } from "../src/index.ts";

function openEngine(dir: string): Engine {
  return createEngine({
    runner: { name: "test", version: "1" },
    cacheDir: join(dir, "cache"),
    stateDir: join(dir, "state"),
    env: { PATH: process.env["PATH"], HOME: dir },
  });
}

function compile(text: string): SpecDefinition {
  const { specDefinition, diagnostics } = compileStepList({ name: "steps.yml", text });
  if (specDefinition === undefined) throw new Error(JSON.stringify(diagnostics));
  return specDefinition;
}

interface TestOptions {
  readonly hooks?: RunHooks;
  readonly signal?: AbortSignal;
  readonly job?: Partial<Job>;
  readonly run?: Omit<RunOptions, "job">;
}

function run(engine: Engine, dir: string, text: string, options: TestOptions = {}): Promise<RunResult> {
  const job: Job = {
    entry: "run",
    source: "steps.yml",
    specDefinition: compile(text),
    inputs: {},
    vars: {},
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    workDir: dir,
    baseDir: dir,
    ...options.job,
  };
  return engine.run({ job, ...options.run }, options.hooks ?? {}, options.signal ?? new AbortController().signal);
}

function outputOf(texts: string[]): RunHooks {
  return { onOutput: (_stream, chunk) => void texts.push(Buffer.from(chunk).toString()) };
}

describe("engine.run()", () => {
  test("two hundred at once, with an engine each, fetch a component once", async () => {
    const dir = tempDir();
    const repository = await createGitRepository(join(tempDir(), "component"), {
      "step.yml": "spec: {}\n---\nexec: {command: ['true']}\n",
    });
    await using server = await startGitHttpServer(dirname(repository.dir));
    const text = `[{name: a, step: 'git+${server.url}/component@${await repository.revision()}'}]`;
    const engines = Array.from({ length: 200 }, () => openEngine(dir));
    const results = await Promise.all(engines.map((engine) => run(engine, dir, text)));
    await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(Array(200).fill(0));
    expect(server.counts.fetch).toBe(1);
    expect(new Set(results.map((result) => result.trace().fingerprints?.core)).size).toBe(1);
  });

  test("tells the same to hooks, journal, logs and trace", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const texts: string[] = [];
    const types: string[] = [];
    const result = await run(engine, dir, "[{name: a, script: 'echo one; echo v=two >>$STEP_OUTPUT_FILE'}]", {
      hooks: { ...outputOf(texts), onEvent: (event) => void types.push(event.type), wantsResult: true },
    });
    expect(result).toMatchObject({ exitCode: 0, outcome: { status: "success" }, unmaskable: 0 });
    expect(texts.join("")).toBe("one\n");
    expect(readFileSync(join(result.directory.logs, "0.log"), "utf8")).toBe("one\n");
    const lines = readFileSync(result.directory.journal, "utf8").trim().split("\n");
    expect(lines.length).toBe(types.length);
    expect([types[0], types.at(-1)]).toEqual(["run-started", "run-finished"]);
    expect(verifyTrace(result.trace())).toEqual([]);
    expect(result.trace().root?.children?.[0]?.det?.outputs).toEqual({ v: { value: "two" } });
    expect(JSON.stringify(result.result)).toContain("two");
    expect((await engine.recover(result.directory.path)).trace).toEqual(result.trace());
  });

  test("leaves nothing but the journal and the logs in its directory", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const { directory } = await run(
      engine,
      dir,
      "[{name: a, script: 'echo hi; touch $(dirname $STEP_OUTPUT_FILE)/left'}]",
    );
    expect(readdirSync(directory.path).toSorted()).toEqual(["logs", "owner", "trace.jsonl"]);
    await engine[Symbol.asyncDispose]();
    expect(readdirSync(directory.path).toSorted()).toEqual(["closed", "logs", "owner", "trace.jsonl"]);
  });

  test("notices that a step wrote in the journal, whatever it wrote", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const journal = "$(dirname $STEP_OUTPUT_FILE)/../trace.jsonl";
    for (const forgery of [
      `: >${journal}`,
      `sed -i s/false/maybe/ ${journal}`,
      `echo >>${journal}`,
      `tail -n 1 ${journal} >>${journal}`,
    ]) {
      const result = await run(engine, dir, `[{name: a, script: '${forgery}'}, {name: b, script: 'exit 3'}]`);
      expect(result.exitCode).toBe(3);
      // The trace that was asked for in time is folded from what was told, not from what somebody wrote.
      expect(verifyTrace(result.trace()), forgery).toEqual([]);
      expect(result.trace().root?.children?.map((step) => step.det?.exitCode)).toEqual([0, 3]);
    }
  });

  test("runs an untouched component the second time too, whatever the first did to its copy", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const { url } = await createGitRepository(join(dir, "repository"), {
      "steps/step.yml": "spec: {}\n---\nexec: {command: [sh, '${{ step_dir }}/go.sh']}\n",
      "steps/go.sh": 'echo untouched; chmod u+w "$(dirname "$0")" "$0"; echo "echo changed" > "$0"\n',
    });
    const outputs: string[] = [];
    const result = await run(engine, dir, `[{name: a, step: '${url}@main'}, {name: b, step: '${url}@main'}]`, {
      hooks: { onOutput: (_stream, chunk) => void outputs.push(Buffer.from(chunk).toString()) },
    });
    expect(result.outcome.status).toBe("success");
    expect(outputs.join("")).toBe("untouched\nuntouched\n");
  });

  test("holds a step back while its output is not taken", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    let waiting = 0;
    let worst = 0;
    const result = await run(engine, dir, "[{name: a, exec: {command: [head, -c, '3000000', /dev/zero]}}]", {
      hooks: {
        onOutput: async () => {
          waiting += 1;
          worst = Math.max(worst, waiting);
          await new Promise((resolve) => setTimeout(resolve, 2));
          waiting -= 1;
        },
      },
    });
    expect(result.exitCode).toBe(0);
    expect(worst).toBeLessThanOrEqual(2);
  });

  test("an abort before it starts, and while a step runs, is a cancelled run and no rejection", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const early = await run(engine, dir, "[{name: a, script: 'echo never >ran'}]", { signal: AbortSignal.abort() });
    expect(early.outcome.status).toBe("cancelled");
    expect(readdirSync(dir)).not.toContain("ran");
    const controller = new AbortController();
    const late = await run(engine, dir, "[{name: a, script: 'echo up; sleep 300'}, {name: b, script: 'true'}]", {
      signal: controller.signal,
      hooks: { onOutput: () => controller.abort() },
      run: { graceMs: 500 },
    });
    expect(late.outcome.status).toBe("cancelled");
    expect(late.trace().root?.children?.length).toBe(1);
  });

  test("what a hook throws rejects the run, and the step's process does not stay", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const hooks: RunHooks = {
      onEvent: (event) => {
        if (event.type === "process-started") throw new Error("disk full");
      },
    };
    await expect(run(engine, dir, "[{name: a, script: 'sleep 0.2; echo x >ran'}]", { hooks })).rejects.toThrow(
      "disk full",
    );
  });

  test("masks what hooks see, also when it comes in pieces", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const texts: string[] = [];
    const events: string[] = [];
    await run(engine, dir, "[{name: a, script: 'printf c4na; sleep 0.1; echo ry-of-mine; echo $0 c4nary-of-mine'}]", {
      hooks: { ...outputOf(texts), onEvent: (event) => void events.push(JSON.stringify(event)) },
      job: { maskedValues: ["c4nary-of-mine"] },
    });
    expect(texts.join("")).toMatch(/^\[MASKED\]\n.*\[MASKED\]\n$/);
    expect(events.join("\n")).not.toContain("c4nary-of-mine");
  });
});

describe("the progress of a fetch", () => {
  test("names the component without a secret of its reference", async () => {
    const dir = tempDir();
    const repository = await createGitRepository(join(tempDir(), "c4nary-of-mine"), {
      "step.yml": "spec: {}\n---\nexec: {command: ['true']}\n",
    });
    await using server = await startGitHttpServer(dirname(repository.dir));
    await using engine = openEngine(dir);
    const seen: string[] = [];
    const url = server.url.replace("//", "//user:passw0rd-of-mine@");
    const result = await run(engine, dir, `[{name: a, step: 'git+${url}/c4nary-of-mine@main'}]`, {
      hooks: { onProgress: (_path, reference) => void seen.push(reference) },
      job: { maskedValues: ["c4nary-of-mine"] },
    });
    expect(result.exitCode).toBe(0);
    expect(seen[0]).toContain("[MASKED]@main");
    expect(seen.join("\n")).not.toMatch(/c4nary|passw0rd/);
  });
});

describe("engine.load()", () => {
  test("fetches and compiles without running, and says what is wrong", async () => {
    const dir = tempDir();
    await using engine = openEngine(dir);
    const { signal } = new AbortController();
    mkdirSync(join(dir, "good"));
    writeFileSync(join(dir, "good/step.yml"), "spec: {inputs: {a: {type: number}}}\n---\nexec: {command: [ls]}\n");
    const reference = { kind: "local", path: "./good", file: undefined } as unknown as Parameters<Engine["load"]>[0];
    const loaded = await engine.load(reference, dir, { signal });
    expect(loaded.specDefinition.spec.inputs["a"]?.type).toBe("number");
    writeFileSync(join(dir, "good/step.yml"), "spec: {}\n---\nexce: {}\n");
    await using other = openEngine(dir);
    await expect(other.load(reference, dir, { signal })).rejects.toMatchObject({ code: "COMPILE_FAILED" });
    expect(existsSync(join(dir, "state"))).toBe(false);
  });
});
