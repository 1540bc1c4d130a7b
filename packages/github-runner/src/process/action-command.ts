import type { ProcessClient } from "@steps/executor/kit";
import type { EnvironmentRecord, RuntimeString } from "@steps/model";

/** What is started. */
export interface ActionCommand {
  readonly command: readonly RuntimeString[];
  /** Absolute; absent: the first word of the command, looked for on the PATH. */
  readonly program?: string;
  readonly workDir: string;
  readonly env: EnvironmentRecord;
  /** Of a process in a container. */
  readonly client?: ProcessClient;
  /** Of a process in a container: the path of the host for one of the container. */
  readonly toHost?: (path: string) => string;
  /** Called when the process has ended, however it did. */
  readonly cleanUp?: () => void | Promise<void>;
}
