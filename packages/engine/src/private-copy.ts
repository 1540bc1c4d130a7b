import type { ResolvedComponent } from "@steps/cache";
import type { Resource } from "@steps/model/event";
import { treeSignature } from "./tree-signature.ts";

/**
 * A job's own copy of a component. Steps run as the owner of the cache: a copy is what keeps one that edits its own files from
 * reaching the next job. It is made when something of it is to run.
 */
export class PrivateCopy {
  /** Absolute; nothing is there before `bring()`. A component that is used in place, or only read, is its own copy. */
  readonly root: string;
  /** The tree in the cache: to be read, never run. */
  readonly source: string;
  /** The component that was last asked for; another of the same tree shares the copy. */
  resource: Resource;
  readonly #component: ResolvedComponent;
  #signature: string | undefined;
  #bringing: Promise<void> | undefined;

  constructor(component: ResolvedComponent, root: string) {
    this.root = root;
    this.source = component.dir;
    this.resource = component.resource;
    this.#component = component;
  }

  /** Says whether this is a copy of the component's tree that nobody has changed since it was made. */
  serves({ dir, isInPlace }: ResolvedComponent): boolean {
    if (isInPlace === true || dir !== this.source) return false;
    return this.#signature === undefined || treeSignature(this.root) === this.#signature;
  }

  /** Makes the copy, once. */
  readonly bring = (): Promise<void> => (this.#bringing ??= this.#bring());

  async #bring(): Promise<void> {
    if (this.root === this.source) return;
    await this.#component.copyTo(this.root);
    this.#signature = treeSignature(this.root);
  }
}
