import { randomBytes } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The files that one step writes its outputs and exports to. They come into being when something asks for their path. */
export class StepFiles {
  readonly #dir: string;
  #output: string | undefined;
  #export: string | undefined;
  readonly #private = new Set<string>();

  /** @param dir an existing private directory */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Paths of those that something asked for. */
  get created(): { readonly outputFile?: string; readonly exportFile?: string } {
    return {
      outputFile: this.#output,
      exportFile: this.#export,
    };
  }

  outputFile(): string {
    return (this.#output ??= createFile(this.#dir, "output"));
  }

  exportFile(): string {
    return (this.#export ??= createFile(this.#dir, "export"));
  }

  /** Writes a text to a file that goes when the step ends; its name is the same in every run. */
  privateFile(name: string, text: string, stepPath: string): string {
    const path = join(this.#dir, `${name}-${stepPath.replaceAll("/", ".")}`);
    removeFile(path);
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    this.#private.add(path);
    return path;
  }

  remove(): void {
    for (const path of this.#private) removeFile(path);
    if (this.#output !== undefined) removeFile(this.#output);
    if (this.#export !== undefined) removeFile(this.#export);
  }
}

function createFile(dir: string, kind: string): string {
  const path = join(dir, `${kind}-${randomBytes(8).toString("hex")}`);
  closeSync(openSync(path, "wx", 0o600));
  return path;
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The step may have removed it, or made a directory of it; the whole directory goes when the job ends.
  }
}
