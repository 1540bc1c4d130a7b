import type { RunnerApi } from "@steps/runner-api/client";
import type { RunnerConfig } from "../config/runner-config.ts";
import { rotateToken, rotationTime } from "./rotate-token.ts";

/** Puts the new token of a runner into its file, in the place of the old one. @throws when the file cannot be written */
export type SaveToken = (before: RunnerConfig, after: RunnerConfig) => void;

/** The token of a runner, which is exchanged in time. */
export class KeptToken {
  readonly #api: Pick<RunnerApi, "resetToken">;
  readonly #save: SaveToken;
  #config: RunnerConfig;
  /** The configuration as the file has it. */
  #saved: RunnerConfig;

  constructor(config: RunnerConfig, { api, save }: { api: Pick<RunnerApi, "resetToken">; save: SaveToken }) {
    this.#config = config;
    this.#saved = config;
    this.#api = api;
    this.#save = save;
  }

  /** The configuration with the token that counts now, whether the file has it or not. */
  get config(): RunnerConfig {
    return this.#config;
  }

  /**
   * Exchanges the token if that is due. One that could not be written down is written with the next look: soon the old one in the file
   * opens nothing any more. Gives whether there was a new token to write. @throws what the server or the file says
   */
  async look(): Promise<boolean> {
    const at = rotationTime(this.#config);
    if (at !== undefined && at <= Date.now()) this.#config = await rotateToken(this.#config, this.#api);
    if (this.#config === this.#saved) return false;
    this.#save(this.#saved, this.#config);
    this.#saved = this.#config;
    return true;
  }
}
