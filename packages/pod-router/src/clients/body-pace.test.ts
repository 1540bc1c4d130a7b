import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { watchBody } from "./body-pace.ts";

const MINUTE = 60_000;
const PACE = { graceMs: 2 * MINUTE, bytesPerSecond: 1024 };

/** A request whose body comes as the test says. */
function bodyOf(headers: IncomingMessage["headers"]): {
  readonly request: IncomingMessage;
  readonly socket: { bytesRead: number };
} {
  const socket = { bytesRead: 700 };
  const stream = new Readable({ read: () => undefined });
  return { request: Object.assign(stream, { headers, socket }) as unknown as IncomingMessage, socket };
}

describe("watchBody()", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("tells once that a body comes more slowly than it may, and after the grace only", () => {
    const { request, socket } = bodyOf({ "content-length": "100000" });
    const onSlow = vi.fn();
    watchBody(request, PACE, onSlow);
    for (let second = 0; second < 119; second++) {
      vi.advanceTimersByTime(1000);
      socket.bytesRead += 1;
    }
    expect(onSlow).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3 * MINUTE);
    expect(onSlow).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("lets a body of 4 GiB take the three weeks that a slow line needs", () => {
    const { request, socket } = bodyOf({ "transfer-encoding": "chunked" });
    const onSlow = vi.fn();
    watchBody(request, PACE, onSlow);
    for (let sent = 0; sent < 2 ** 32; sent += 60 * 2048) {
      vi.advanceTimersByTime(MINUTE);
      socket.bytesRead += 60 * 2048;
    }
    expect(onSlow).not.toHaveBeenCalled();
    request.emit("end");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("does not count the time in which the request is paused", () => {
    const { request } = bodyOf({ "content-length": "100000" });
    const onSlow = vi.fn();
    request.resume();
    watchBody(request, PACE, onSlow);
    vi.advanceTimersByTime(MINUTE);
    request.pause();
    vi.advanceTimersByTime(60 * MINUTE);
    request.emit("resume");
    vi.advanceTimersByTime(MINUTE - 1);
    expect(onSlow).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onSlow).toHaveBeenCalledTimes(1);
  });

  test.each([{}, { "content-length": "0" }])("has nothing to watch where there is no body: %j", (headers) => {
    watchBody(bodyOf(headers).request, PACE, () => expect.unreachable());
    expect(vi.getTimerCount()).toBe(0);
  });
});
