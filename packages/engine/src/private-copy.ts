import { treeSignature } from "./tree-signature.ts";

/**
 * A job's own copy of a component. Steps run as the owner of the cache: a copy is what keeps one that edits its own files from
 * reaching the next job. It is made when something of it is to run.
 */
export class PrivateCopy {
  /** Absolute; nothing is there before `bring()`. */
  readonly root: string;
  /** The tree in the cache: to be read, never run. */
  readonly source: string;
  readonly #make: () => Promise<string>;
  #signature: string | undefined;
  #bringing: Promise<void> | undefined;

  constructor(root: string, source: string, make: () => Promise<string>) {
    this.root = root;
    this.source = source;
    this.#make = make;
  }

  /** Whether nobody has changed it, as far as it is there. */
  get isIntact(): boolean {
    return this.#signature === undefined || treeSignature(this.root) === this.#signature;
  }

  bring(): Promise<void> {
    return (this.#bringing ??= this.#bring());
  }

  async #bring(): Promise<void> {
    await this.#make();
    this.#signature = treeSignature(this.root);
  }
}
