/** A number of places that holders take and give back. Those that find none wait in the order in which they came. */
export class Places<Holder> {
  readonly #waiting: Holder[] = [];
  #next = 0;
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place; without one the holder waits, and `giveBack()` names it later. */
  take(holder: Holder): boolean {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    this.#waiting.push(holder);
    return false;
  }

  /** Gives a place back. The holder that waited longest has it from now on; undefined when nobody waits. */
  giveBack(): Holder | undefined {
    const next = this.#waiting[this.#next];
    if (next === undefined) this.#free++;
    else this.#next++;
    return next;
  }
}
