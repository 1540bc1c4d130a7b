import type { ProcessClient } from "@steps/executor/kit";
import type { RuntimeString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";

/** The command of a process, ready to be started. */
export interface ActionCommand {
  readonly command: readonly RuntimeString[];
  /** The absolute path of the program; absent: the first word of the command is looked for on the PATH. */
  readonly program?: string;
  readonly workDir: string;
  readonly env: EnvironmentRecord;
  /** The client that is started for a process in a container; absent: the process itself is started. */
  readonly client?: ProcessClient;
  /** Gives the path of the host for one of the container; absent for a process on the host. */
  readonly toHost?: (path: string) => string;
  /** Called when the process has ended, however it did. */
  readonly cleanUp?: () => void | Promise<void>;
}
