import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";

/** A job as the double hands it out: anything but its id and its token may be left out. */
export type ServedPayload = Readonly<Record<string, unknown>>;

/** The double's record of a job. */
export interface ServedJob {
  readonly id: number;
  readonly token: string;
  /** The states that were reported, each once in a row. */
  readonly states: string[];
  trace: Buffer;
  readonly uploads: { readonly query: URLSearchParams; readonly file: Buffer; readonly name: string }[];
  /** The last update with an end. */
  end: Readonly<Record<string, unknown>> | undefined;
  /** `Job-Status` of all answers about it. */
  status: string;
  /** How often it was handed out. */
  claims: number;
}

/** Answers in place of the double: gives `true` when it has. Bodies were read before. */
export type RunnerServerFault = (
  request: { readonly method: string; readonly path: string; readonly body: Buffer },
  response: ServerResponse,
) => boolean;

/** A strict double of the part of a GitLab that runners talk to. What breaks the rules of the API is in `complaints`. */
export interface RunnerServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly jobs: ReadonlyMap<number, ServedJob>;
  readonly complaints: readonly string[];
  /** Method and path of all requests, in their order. */
  readonly requests: readonly string[];
  /** The seconds that patches are to be apart. */
  traceInterval: number;
  fault: RunnerServerFault | undefined;
  /** Queues a job for the next request. */
  queue(payload: ServedPayload): ServedJob;
  /** The archive that a job has, for those that depend on it. */
  setArchive(id: number, archive: Buffer): void;
  /** Resolves when something has changed so that `check` gives something. */
  until<T>(check: () => T | undefined | false): Promise<T>;
}

const RUNNER_TOKEN = "glrt-double-of-a-runner";

/** Starts a double on the loopback interface. @param port 0 takes a free one */
export async function startRunnerServer({ port = 0 }: { readonly port?: number } = {}): Promise<RunnerServer> {
  const double = new Double();
  const server = createServer((request, response) => {
    void buffer(request).then(
      (body) => double.answer(request, response, body),
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(double, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  });
}

type Json = Readonly<Record<string, unknown>>;

class Double {
  url = "";
  readonly token: string = RUNNER_TOKEN;
  readonly jobs = new Map<number, ServedJob>();
  readonly complaints: string[] = [];
  readonly requests: string[] = [];
  traceInterval = 1;
  fault: RunnerServerFault | undefined;
  readonly #queued: Json[] = [];
  readonly #archives = new Map<number, Buffer>();
  readonly #waiters = new Set<() => void>();

  queue(payload: ServedPayload): ServedJob {
    const id = Number(payload["id"]);
    const token = String(payload["token"]);
    const job: ServedJob = {
      id,
      token,
      states: [],
      trace: Buffer.alloc(0),
      uploads: [],
      end: undefined,
      status: "running",
      claims: 0,
    };
    this.jobs.set(id, job);
    this.#queued.push(payload);
    return job;
  }

  setArchive(id: number, archive: Buffer): void {
    this.#archives.set(id, archive);
  }

  async until<T>(check: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = check();
      if (found !== undefined && found !== false) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.add(resolve);
      await promise;
    }
  }

  answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const url = new URL(request.url ?? "/", "http://double");
    const method = request.method ?? "";
    this.requests.push(`${method} ${url.pathname}`);
    try {
      if (this.fault?.({ method, path: url.pathname, body }, response) === true) return;
      const path = url.pathname.replace(/^\/api\/v4/, "");
      const [, id, what = ""] = /^\/jobs\/(\d+)(?:\/(\w+))?$/.exec(path) ?? [];
      if (path === "/jobs/request") this.#request(request, response, body);
      else if (path.startsWith("/runners")) this.#runner(`${method} ${path}`, { request, response, body });
      else if (id !== undefined) this.#job(`${method} ${what}`, Number(id), { request, response, body, url });
      else this.#complain(response, 404, `no such path: ${path}`);
    } finally {
      for (const wake of this.#waiters) wake();
      this.#waiters.clear();
    }
  }

  #request(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const json = this.#json(request, body);
    if (json["token"] !== RUNNER_TOKEN || request.headers["runner-token"] !== RUNNER_TOKEN) {
      return send(response, 403, { message: "403 Forbidden" });
    }
    if (!/^[sr]_[0-9A-Za-z]{12}$/.test(String(json["system_id"]))) this.complaints.push("system_id is malformed");
    const payload = this.#queued.shift();
    if (payload === undefined) return void response.writeHead(204, { "x-gitlab-last-update": "1" }).end();
    const job = this.jobs.get(Number(payload["id"]));
    if (job !== undefined) job.claims += 1;
    send(response, 201, payload);
  }

  #runner(call: string, { request, response, body }: Call): void {
    const json = this.#json(request, body);
    if (json["token"] !== RUNNER_TOKEN) return send(response, 403, { message: "403 Forbidden" });
    const runner = { id: 7, token: RUNNER_TOKEN, token_expires_at: null };
    if (call === "POST /runners/verify") send(response, 200, runner);
    else if (call === "DELETE /runners" || call === "DELETE /runners/managers") response.writeHead(204).end();
    else this.#complain(response, 404, `no such call: ${call}`);
  }

  #job(call: string, id: number, { request, response, body, url }: Call & { readonly url: URL }): void {
    const job = this.jobs.get(id);
    if (call === "GET artifacts") return this.#download(id, request, response);
    if (job === undefined || request.headers["job-token"] !== job.token || job.end !== undefined) {
      return void response.writeHead(403, { "job-status": job?.status ?? "unknown" }).end();
    }
    if (call === "PUT ") this.#update(job, this.#json(request, body), response);
    else if (call === "PATCH trace") this.#patch(job, { request, response, body });
    else if (call === "POST artifacts") this.#upload(job, { request, response, body, url });
    else this.#complain(response, 404, `no such call: ${call}`);
  }

  #update(job: ServedJob, json: Json, response: ServerResponse): void {
    const state = String(json["state"]);
    if (job.states.at(-1) !== state) job.states.push(state);
    const headers = { "job-status": job.status, "x-gitlab-trace-update-interval": String(this.traceInterval) };
    if (state === "running") return void response.writeHead(200, headers).end("200");
    if (state !== "success" && state !== "failed") return this.#complain(response, 400, `the state is ${state}`);
    const output = json["output"] as { checksum?: unknown; bytesize?: unknown } | undefined;
    const own = `crc32:${crc32(job.trace).toString(16).padStart(8, "0")}`;
    if (output?.bytesize !== job.trace.length || output.checksum !== own) {
      job.trace = Buffer.alloc(0);
      return void response.writeHead(412, headers).end("412");
    }
    job.end = json;
    response.writeHead(200, headers).end("200");
  }

  #patch(job: ServedJob, { request, response, body }: Call): void {
    const range = /^(\d+)-(\d+)$/.exec(request.headers["content-range"] ?? "");
    const [start, end] = [Number(range?.[1]), Number(range?.[2])];
    if (range === null || end - start + 1 !== body.length || request.headers["content-type"] !== "text/plain") {
      return this.#complain(
        response,
        400,
        `a patch of ${body.length} bytes is for ${request.headers["content-range"]}`,
      );
    }
    const headers = { "job-status": job.status, "x-gitlab-trace-update-interval": String(this.traceInterval) };
    const isNext = start === job.trace.length;
    if (isNext) job.trace = Buffer.concat([job.trace, body]);
    const status = isNext || (start < job.trace.length && start + body.length === job.trace.length) ? 202 : 416;
    response.writeHead(status, { ...headers, range: `0-${job.trace.length}` }).end();
  }

  #upload(job: ServedJob, { request, response, body, url }: Call & { readonly url: URL }): void {
    const boundary = /boundary=(.+)$/.exec(request.headers["content-type"] ?? "")?.[1] ?? "";
    const text = body.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    const tail = text.lastIndexOf(`\r\n--${boundary}--`);
    if (boundary === "" || head === -1 || tail === -1) return this.#complain(response, 400, "a form is malformed");
    const name = /filename="([^"]*)"/.exec(text.slice(0, head))?.[1] ?? "";
    job.uploads.push({ query: url.searchParams, name, file: body.subarray(head + 4, tail) });
    send(response, 201, {});
  }

  #download(id: number, request: IncomingMessage, response: ServerResponse): void {
    const archive = this.#archives.get(id);
    const token = request.headers["job-token"];
    const isOfJob = [...this.jobs.values()].some((job) => job.token === token);
    if (!isOfJob) send(response, 403, { message: "403 Forbidden" });
    else if (archive === undefined) send(response, 404, { message: "404 Not found" });
    else response.writeHead(200, { "content-type": "application/octet-stream" }).end(archive);
  }

  #json(request: IncomingMessage, body: Buffer): Json {
    if (request.headers["content-type"] !== "application/json") this.complaints.push("a body is not called JSON");
    return JSON.parse(body.toString()) as Json;
  }

  #complain(response: ServerResponse, status: number, complaint: string): void {
    this.complaints.push(complaint);
    response.writeHead(status).end();
  }
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
