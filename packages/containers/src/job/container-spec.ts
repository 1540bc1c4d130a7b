import type { RegistryCredentials } from "../client/registry-credentials.ts";

/** A container of a job, with nothing left to evaluate. */
export interface ContainerSpec {
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  /** Words for the command that starts it. */
  readonly options: readonly string[];
  readonly entrypoint?: string;
  readonly command: readonly string[];
  readonly credentials?: RegistryCredentials;
}
