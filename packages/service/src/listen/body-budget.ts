import { Code, ConnectError } from "@connectrpc/connect";

/** Of all requests that are being read or answered. Four of the largest; those of 200 jobs at once have some MiB. */
const MAX_BYTES = 256 * 1024 * 1024;

/** What requests hold in memory together, however many connections and calls they come by. */
export class BodyBudget {
  #bytes = 0;

  /**
   * The body of a request, which counts until it is disposed of. Reading throws RESOURCE_EXHAUSTED where there is too much
   * at once.
   */
  take(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> & Disposable {
    let held = 0;
    const count = (bytes: number): void => {
      held += bytes;
      this.#bytes += bytes;
    };
    const isFull = (): boolean => this.#bytes > MAX_BYTES;
    return {
      async *[Symbol.asyncIterator]() {
        for await (const chunk of body) {
          count(chunk.length);
          if (isFull()) throw new ConnectError("Too much is asked at once; try again", Code.ResourceExhausted);
          yield chunk;
        }
      },
      [Symbol.dispose]: () => count(-held),
    };
  }
}
