/** Lets one at a time go on, in the order in which they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when everybody who came before is done. The turn lasts until it is given back. */
  async take(): Promise<Disposable> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    await before;
    return { [Symbol.dispose]: turn.resolve };
  }
}
