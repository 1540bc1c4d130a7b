import { connectHttp, type Call } from "./http-client.ts";

/** Milliseconds of calls that were made one after the other. */
export type Times = readonly number[];

/** The time below which a share of the calls stayed. */
export function percentile(times: Times, share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** A server, and the calls that are made to it. */
export interface Side {
  readonly url: string;
  /** The next call. */
  readonly call: () => Call;
  readonly status: number;
}

/** Times calls to several servers in turn, so that what the machine does besides falls on all of them. The first fifth warms them. */
export async function timeCalls(count: number, sides: readonly Side[]): Promise<Times[]> {
  const times: number[][] = sides.map(() => []);
  const clients = sides.map(({ url }) => connectHttp(url));
  for (let i = 0; i < count * 1.25; i++) {
    for (const [at, { call, status }] of sides.entries()) {
      const next = call();
      const start = performance.now();
      const reply = await clients[at]?.send(next);
      const time = performance.now() - start;
      if (reply?.status !== status)
        throw new Error(`${next.method} ${next.path}: ${reply?.status} ${reply?.body.toString()}`);
      if (i >= count / 4) times[at]?.push(time);
    }
  }
  for (const client of clients) client[Symbol.dispose]();
  return times;
}
