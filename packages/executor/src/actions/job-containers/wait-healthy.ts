import { setTimeout as sleep } from "node:timers/promises";
import { ExecuteError } from "../../execute-error.ts";
import { finishStep, guard } from "../../finish-step.ts";
import { outcomeOfAbort } from "../../outcome.ts";
import { type Run, tell } from "../../run.ts";
import { endWithout, type StepEnd } from "../../step-end.ts";
import type { ContainerCli } from "../find-container-cli.ts";
import { type ContainerFacts, endOfLog, inspectContainer } from "./inspect-container.ts";

const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 1000;
const SAY_EVERY_MS = 10_000;
/** The engine itself calls a container unhealthy after some tries; one that asks every hour is not waited for. */
const MAX_WAIT_MS = 10 * 60_000;

/** A service whose health is waited for. */
export interface WaitedService {
  readonly cli: ContainerCli;
  readonly container: string;
  /** As it is shown: `Wait for redis`. */
  readonly title: string;
}

/** Waits until a service says that it is healthy, in a record of its own; its log's end is there when it does not. */
export async function waitHealthy(run: Run, service: WaitedService): Promise<StepEnd> {
  const path = String(run.state.nextPhase++);
  tell(run, { type: "step-opened", at: Date.now(), path, name: service.title, phase: "pre" });
  const end = await guard(run, () => wait(run, path, service));
  finishStep(run, path, end);
  return end;
}

async function wait(run: Run, path: string, { cli, container }: WaitedService): Promise<StepEnd> {
  const log = run.hooks.openLog(path);
  const say = async (text: string): Promise<void> => log.write("stdout", Buffer.from(`${text.trimEnd()}\n`));
  let problem: string | undefined;
  try {
    problem = await findProblem(run, { ask: () => inspectContainer(cli, container, run.signal), say });
    if (problem !== undefined && !run.signal.aborted) {
      const written = await endOfLog(cli, container);
      if (written.trim() !== "") await say(`The end of its log:\n${written}`);
    }
  } catch (error) {
    if (!run.signal.aborted) throw error;
  } finally {
    await log.close();
  }
  if (run.signal.aborted) return endWithout(outcomeOfAbort(run.signal.reason));
  if (problem !== undefined) throw new ExecuteError("CONTAINER_FAILED", problem);
  return endWithout({ status: "success" });
}

async function findProblem(
  { signal }: Run,
  { ask, say }: { readonly ask: () => Promise<ContainerFacts>; readonly say: (text: string) => Promise<void> },
): Promise<string | undefined> {
  const start = performance.now();
  let saidAt = start;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_POLL_MS)) {
    const { isRunning, exitCode, health } = await ask();
    if (!isRunning) return `the service has ended with exit status ${exitCode}`;
    if (health === "healthy" || health === "") return undefined;
    if (health === "unhealthy") return "the service is unhealthy";
    if (pauseMs === FIRST_POLL_MS) await say("Waiting until it is healthy");
    const now = performance.now();
    if (now - start > MAX_WAIT_MS) return `the service is not healthy after ${MAX_WAIT_MS / 60_000} minutes`;
    if (now - saidAt > SAY_EVERY_MS) {
      saidAt = now;
      await say(`It is ${health} for ${Math.round((now - start) / 1000)} s`);
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
