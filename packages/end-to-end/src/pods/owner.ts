import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A job as the owner of a pod sees it. */
export interface OwnedJob {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly attempt: number;
  readonly tags: readonly string[];
  readonly trace_size: number;
  readonly trace_damaged: boolean;
  readonly retried: boolean;
  readonly artifacts: readonly { readonly type: string; readonly size: number }[];
}

/** A pipeline to create; its name tells it from all others of the project. */
export interface PipelineRequest {
  readonly project: string;
  readonly name: string;
  readonly stages: readonly string[];
  readonly jobs: readonly object[];
}

interface Pipeline {
  readonly id: number;
  readonly name: string;
}

const PATIENCE_MS = 240_000;

/** The owner of a pod: asks until there is an answer, whatever happens to the pod in between. */
export class Owner {
  readonly #base: () => string;
  readonly #token: string;
  /** The ids of the pipelines that there are. */
  readonly pipelines: number[] = [];

  constructor(base: () => string, stateDir: string) {
    this.#base = base;
    this.#token = readFileSync(join(stateDir, "admin-token"), "utf8");
  }

  async createRunner(settings: object): Promise<string> {
    const { token } = await this.#ask<{ token: string }>("POST", "/runners", settings);
    return token;
  }

  /** Creates a pipeline, once: whether one was created whose answer was lost shows its name. */
  async createPipeline(request: PipelineRequest): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(100)) {
      const known = await this.#ask<Pipeline[]>("GET", `/pipelines?limit=1000&project=${request.project}`);
      const found = known.find(({ name }) => name === request.name);
      if (found !== undefined) return void this.pipelines.push(found.id);
      await this.#send("POST", "/pipelines", request).catch(() => undefined);
    }
    throw new Error(`Pipeline ${request.name} cannot be created`);
  }

  async jobs(): Promise<OwnedJob[]> {
    const all: OwnedJob[] = [];
    for (const id of this.pipelines)
      all.push(...(await this.#ask<{ jobs: OwnedJob[] }>("GET", `/pipelines/${id}`)).jobs);
    return all;
  }

  /** Cancels a job, or has it run again, if that is possible. */
  async act(id: number, what: "cancel" | "retry"): Promise<void> {
    await this.#send("POST", `/jobs/${id}/${what}`).catch(() => undefined);
  }

  async trace(id: number, size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let offset = 0; offset < size;) {
      const part = await this.#bytes(`/jobs/${id}/trace?offset=${offset}`);
      if (part.length === 0) break;
      parts.push(part);
      offset += part.length;
    }
    return Buffer.concat(parts);
  }

  async artifact(id: number): Promise<Buffer> {
    return await this.#bytes(`/jobs/${id}/artifacts/archive`);
  }

  async #bytes(path: string): Promise<Buffer> {
    return await this.#until(async () => {
      const reply = await this.#send("GET", path);
      return Buffer.from(await reply.arrayBuffer());
    });
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    return await this.#until(async () => (await (await this.#send(method, path, body)).json()) as T);
  }

  async #until<T>(work: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + PATIENCE_MS; ; await sleep(50)) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
  }

  async #send(method: string, path: string, body?: object): Promise<Response> {
    const reply = await fetch(`${this.#base()}/api/pod/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply;
  }
}
