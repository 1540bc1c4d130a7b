import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Run, type StepEnd, tell } from "@steps/executor/kit";
import { maskForms, ProblemMatchers } from "@steps/github-language/commands";
import { createObject, revealString, type RuntimeString, sensitive, type Value } from "@steps/model";
import type { ActionDescription, ActionHost } from "./action-host.ts";
import type { ActionInstance } from "./action-instance.ts";
import { CommandFiles } from "./command-files.ts";
import type { JobContainer } from "./job-container.ts";
import type { PostEntry } from "./phase-entry.ts";

/** The state that all GitHub actions of one run share. */
export class ActionJob {
  readonly host: ActionHost;
  readonly description: ActionDescription;
  readonly dirs: ActionDirs;
  /** Problem matchers stay for the rest of the job. */
  readonly matchers: ProblemMatchers = new ProblemMatchers();
  /** The phases that run when all steps have ended, the last first. */
  readonly posts: PostEntry[] = [];
  /** Images of Docker actions that were built, by tag. */
  readonly images: Map<string, Promise<StepEnd>> = new Map();
  /** The container that the job's steps run in; undefined if the job names none. */
  container: JobContainer | undefined;
  /** The network that the job's containers share; undefined if the job has no containers. */
  network: string | undefined;
  /** Folders that steps have put in front of the PATH, the newest first. */
  paths: readonly string[] = [];
  /** The note that an action asks for a token, and there is none, has been told. It is told once. */
  hasMissedToken = false;
  /** The contexts that a workflow's job has of itself; empty elsewhere. */
  contexts: Readonly<Record<string, Value>> = createObject();
  readonly #files = new Map<string, CommandFiles>();
  readonly #instances = new Map<string, ActionInstance>();
  readonly #items = new Map<string, string>();
  readonly #ids = new Map<string, number>();
  #services: Promise<Readonly<Record<string, RuntimeString>>> | undefined;

  private constructor(host: ActionHost, description: ActionDescription, dirs: ActionDirs) {
    this.host = host;
    this.description = description;
    this.dirs = dirs;
  }

  /** Makes the folders of the run's actions, and asks the host what they are told. */
  static async open(run: Run, openHost: () => Promise<ActionHost>): Promise<ActionJob> {
    const { job, jobTmp } = run;
    const host = await openHost();
    if (host.token !== undefined) tellToken(run, revealString(host.token));
    const dirs = createDirs(jobTmp);
    const { inputs } = job.specDefinition.definition.github?.contexts ?? {};
    const description = host.describe({
      ...(typeof inputs === "object" ? { inputs: inputs as Readonly<Record<string, Value>> } : {}),
      variable: (name) => {
        const held = jobVariable(run, name);
        return held === undefined ? undefined : revealString(held);
      },
      workspace: job.workDir,
      temp: dirs.temp,
      eventPath: dirs.event,
    });
    writeFileSync(dirs.event, `${JSON.stringify(description.event ?? {}, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(dirs.event, 0o644);
    return new ActionJob(host, description, dirs);
  }

  /** The id that `takeId()` would give now. */
  peekId(wanted: string): string {
    return this.#freeId(wanted).id;
  }

  /** Takes a value for `GITHUB_ACTION`: the step's id, or a name that no other step of the job has. */
  takeId(wanted: string): string {
    const { id, count } = this.#freeId(wanted);
    this.#ids.set(wanted, count).set(id, this.#ids.get(id) ?? 1);
    return id;
  }

  #freeId(wanted: string): { readonly id: string; readonly count: number } {
    let count = this.#ids.get(wanted) ?? 0;
    let id: string;
    do {
      count += 1;
      id = count === 1 ? wanted : `${wanted}_${count}`;
    } while (count > 1 && this.#ids.has(id));
    return { id, count };
  }

  /** Notes that the step with the path `attempt` is an attempt of the one with the path `item`. */
  noteAttempt(attempt: string, item: string): void {
    if (attempt !== item) this.#items.set(attempt, item);
  }

  /** The action that a step is, once a phase of it has begun: in all attempts the same. */
  instanceAt(path: string): ActionInstance | undefined {
    return this.#instances.get(this.#itemPath(path));
  }

  keepInstance(path: string, instance: ActionInstance): void {
    this.#instances.set(this.#itemPath(path), instance);
  }

  #itemPath(path: string): string {
    for (const [attempt, item] of this.#items) {
      if (path === attempt || path.startsWith(`${attempt}/`)) return item + path.slice(attempt.length);
    }
    return path;
  }

  /** Puts folders in front of the PATH of all steps to come, the last before the others; gives all of them. */
  addPaths(paths: readonly string[]): readonly string[] {
    return (this.paths = [...new Set([...paths.toReversed(), ...this.paths])]);
  }

  /** The files of the one process that runs, or of the one of a branch: names that are the same in every run. */
  commandFiles(branch = ""): CommandFiles {
    let files = this.#files.get(branch);
    if (files === undefined) {
      files = new CommandFiles(this.dirs.commands, branch.replaceAll("/", "."));
      this.#files.set(branch, files);
    }
    return files;
  }

  services(): Promise<Readonly<Record<string, RuntimeString>>> {
    return (this.#services ??= this.#openServices());
  }

  async #openServices(): Promise<Readonly<Record<string, RuntimeString>>> {
    const variables = await this.host.services();
    const texts = Object.values(variables).map(revealString);
    const ports = texts.flatMap((text) => /^http:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1] ?? []);
    await this.container?.reach([...new Set(ports)].map(Number));
    return variables;
  }
}

// Any expression may hold the token, not only an input.
function tellToken(run: Run, token: string): void {
  const values = maskForms(token).map((form) => sensitive(form));
  tell(run, { type: "secret-found", at: Date.now(), path: "", values });
}

/** Absolute paths below the job's private directory. */
export interface ActionDirs {
  /** The folder of `RUNNER_TEMP`. */
  readonly temp: string;
  readonly commands: string;
  /** The home of Docker actions. */
  readonly home: string;
  readonly workflow: string;
  readonly event: string;
}

function createDirs(jobTmp: string): ActionDirs {
  const temp = join(jobTmp, "temp");
  const workflow = join(temp, "_github_workflow");
  const dirs = {
    temp,
    commands: join(temp, "_runner_file_commands"),
    home: join(temp, "_github_home"),
    workflow,
    event: join(workflow, "event.json"),
  };
  for (const dir of [dirs.commands, dirs.home, dirs.workflow]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  // A container may have another user. On this machine nobody else gets as far as here: the run's directory is private.
  for (const dir of [temp, dirs.commands, dirs.home, dirs.workflow]) chmodSync(dir, 0o777);
  return dirs;
}

/** A job variable, else one of the environment that all steps start from: `run` has only the latter. Asking is recorded. */
export function jobVariable(run: Run, name: string): RuntimeString | undefined {
  run.state.readingPath = "";
  const { vars } = run.contexts;
  return Object.hasOwn(run.job.vars, name)
    ? (vars as Readonly<Record<string, RuntimeString>>)[name]
    : run.environment.base[name];
}
