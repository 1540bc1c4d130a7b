import { join } from "node:path";
import type { decodeTrace } from "@steps/trace";
import { storeNames } from "../files/job-stores.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;

/** Stores for the replay of a pipeline: where its jobs shared a folder, their replays share a new one. */
export class ReplayStores {
  readonly #folder: string;
  readonly #given = new Map<string, string>();

  /** @param folder - An absolute path; the stores are made in it when a job needs them. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The stores of a job, as its inputs. */
  inputsOf({ request }: Trace): Record<string, string> {
    const recorded = request?.inputs ?? {};
    const names = storeNames.filter((name) => Object.hasOwn(recorded, name));
    return Object.fromEntries(names.map((name) => [name, this.#storeFor(name, recorded[name]?.value)]));
  }

  #storeFor(name: string, recorded: unknown): string {
    const key = JSON.stringify([name, recorded ?? null]);
    const store = this.#given.get(key) ?? join(this.#folder, String(this.#given.size));
    this.#given.set(key, store);
    return store;
  }
}
