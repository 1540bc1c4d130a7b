import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OwnFile, removeFile, SpareFiles } from "./spare-files.ts";

/** The files that one step writes its outputs and exports to. They come into being when something asks for their path. */
export class StepFiles {
  readonly #dir: string;
  readonly #spare: SpareFiles | undefined;
  #output: OwnFile | undefined;
  #export: OwnFile | undefined;
  readonly #private = new Set<string>();

  /**
   * @param dir an existing private directory
   * @param spare the files of steps before it that wrote nothing. Absent: it has files of its own
   */
  constructor(dir: string, spare?: SpareFiles) {
    this.#dir = dir;
    this.#spare = spare;
  }

  /** Paths of those that something asked for. */
  get created(): { readonly outputFile?: string; readonly exportFile?: string } {
    return {
      outputFile: this.#output?.path,
      exportFile: this.#export?.path,
    };
  }

  outputFile(): string {
    return (this.#output ??= this.#take("output")).path;
  }

  exportFile(): string {
    return (this.#export ??= this.#take("export")).path;
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
    for (const file of [this.#output, this.#export]) {
      if (file === undefined) continue;
      if (this.#spare === undefined) removeFile(file.path);
      else this.#spare.giveBack(file);
    }
  }

  #take(kind: OwnFile["kind"]): OwnFile {
    return (this.#spare ?? new SpareFiles(this.#dir)).take(kind);
  }
}
