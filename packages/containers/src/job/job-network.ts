import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runBriefly } from "@steps/platform/processes";
import type { ContainerCli } from "../client/find-container-cli.ts";
import { ContainerError } from "../container-error.ts";
import { labelOfJob, removeLabelled } from "../client/remove-container.ts";
import type { LoopbackRelay } from "./loopback-relay.ts";
import { type Guard, startGuard } from "./guard.ts";

const TIMEOUT_MS = 30_000;
const TRIES = 5;
/** The path of a socket has about a hundred bytes. */
const MAX_ROOT_LENGTH = 50;
const MAX_NAME_LENGTH = 40;

/** The options by which the network of a job is made. */
export interface NetworkOptions {
  readonly signal: AbortSignal;
  /** A folder that goes if this process is killed; by default the one for sockets. */
  readonly folder?: string;
  /** Arguments of the client for when this process is killed and the containers are gone. Default: none. */
  readonly last?: readonly string[];
  /** Whether all of it outlives this process; whoever removes it then has to be told where it is. Default: no. */
  readonly isKept?: boolean;
}

interface NetworkParts extends Omit<NetworkOptions, "signal"> {
  readonly id: string;
  readonly name: string;
}

/** The network of a job, and everything on it that has the job's label. */
export class JobNetwork {
  readonly name: string;
  readonly label: string;
  /** For sockets: it may be made, and goes with the network. */
  readonly socketDir: string;
  readonly #cli: ContainerCli;
  readonly #guard: Guard | undefined;
  readonly #relays: LoopbackRelay[] = [];

  private constructor(cli: ContainerCli, { id, name, folder, last, isKept = false }: NetworkParts) {
    this.#cli = cli;
    this.name = name;
    this.label = labelOfJob(id);
    const root = tmpdir().length > MAX_ROOT_LENGTH ? "/tmp" : tmpdir();
    this.socketDir = join(root, name.slice(0, MAX_NAME_LENGTH));
    const guarded = { label: this.label, network: name, folder: folder ?? this.socketDir, last };
    this.#guard = isKept ? undefined : startGuard(cli, guarded);
  }

  /** @param id of the job, that no other job of the engine has @throws {ContainerError} CONTAINER_FAILED */
  static async create(cli: ContainerCli, id: string, options: NetworkOptions): Promise<JobNetwork> {
    const { signal, folder, last, isKept } = options;
    const network = new JobNetwork(cli, {
      id,
      name: `steps-${id.replace(/[^A-Za-z0-9_.-]/g, "-")}`,
      folder,
      last,
      isKept,
    });
    const args = ["network", "create", `--label=${network.label}`, network.name];
    const { program } = cli;
    const answer = await runBriefly({ program, args, env: process.env, timeoutMs: TIMEOUT_MS, signal });
    if (answer.exitCode === 0) return network;
    await network.remove();
    const said = answer.stderr.trim().split("\n").at(-1) ?? "";
    throw new ContainerError("CONTAINER_FAILED", `the network of the job cannot be made: ${said || "no answer"}`);
  }

  /** Ends it before the containers. */
  addRelay(relay: LoopbackRelay): void {
    this.#relays.push(relay);
  }

  /** Removes the containers of the job and the network. Returns whether nothing is left. Never rejects. */
  async remove(): Promise<boolean> {
    for (const relay of this.#relays) relay.close();
    const isEmpty = await removeLabelled(this.#cli, { label: this.label, env: process.env });
    const isGone = await this.#removeNetwork();
    this.#guard?.release();
    return isEmpty && isGone;
  }

  async #removeNetwork(): Promise<boolean> {
    const { program } = this.#cli;
    const call = { program, args: ["network", "rm", this.name], env: process.env, timeoutMs: TIMEOUT_MS };
    for (let round = 0; round < TRIES; round++) {
      const { exitCode, stderr } = await runBriefly(call);
      if (exitCode === 0 || /not found|no such network/i.test(stderr)) return true;
      // A container that is gone may still be on it for a moment.
      await sleep(200);
    }
    return false;
  }
}
