import type { ContainerCli } from "@steps/containers";
import { endOfLog, inspectContainer, waitForHealth } from "@steps/containers/job";
import { endWithout, ExecuteError, outcomeOfAbort, type Run, runToldStep, type StepEnd } from "@steps/executor/kit";

/** A service whose health is waited for. */
export interface WaitedService {
  readonly cli: ContainerCli;
  readonly container: string;
  /** The name that the waiting is shown by: `Wait for redis`. */
  readonly title: string;
}

/** Waits until a service says that it is healthy, in a record of its own. If it never does, the end of its log is in the record. */
export function waitHealthy(run: Run, service: WaitedService): Promise<StepEnd> {
  const path = String(run.state.nextPhase++);
  return runToldStep(run, { path, name: service.title, phase: "pre" }, () => wait(run, path, service));
}

async function wait(run: Run, path: string, { cli, container }: WaitedService): Promise<StepEnd> {
  const log = run.hooks.openLog(path);
  const say = async (text: string): Promise<void> => log.write("stdout", Buffer.from(`${text.trimEnd()}\n`));
  let problem: string | undefined;
  try {
    problem = await waitForHealth(run.signal, { ask: () => inspectContainer(cli, container, run.signal), say });
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
