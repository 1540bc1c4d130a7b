import { once } from "node:events";
import type { Duplex } from "node:stream";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startKubernetesServer, writeKubeconfig } from "@steps/testkit";
import type { ExecFault, KubernetesServer } from "@steps/testkit";
import { DialError, dialKubernetes } from "../src/index.ts";
import type { Dial } from "../src/index.ts";
import { SETTINGS, greeting } from "./kubernetes-helpers.ts";

let fault: ExecFault = {};
let server: KubernetesServer;
let dial: Dial;

beforeAll(async () => {
  server = await startKubernetesServer({ pods: [{ name: "job" }], onExec: () => fault });
  dial = dialKubernetes({ pod: "job", kubeconfig: await writeKubeconfig(server), command: greeting("exec cat") });
});
afterAll(() => server.close());

const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3000 }), { minLength: 1, maxLength: 12 });
const faults = fc.record({
  fragmentBytes: fc.integer({ min: 1, max: 5000 }),
  writeBytes: fc.integer({ min: 1, max: 5000 }),
});

async function writePieces(stream: Duplex, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    if (!stream.write(part)) await once(stream, "drain");
  }
  stream.end();
}

describe("any bytes in any pieces", () => {
  test("come back as they went", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, faults, async (parts, wish) => {
        fault = wish;
        const stream = await dial(AbortSignal.timeout(20_000));
        const chunks: Buffer[] = [];
        const reading = (async () => {
          for await (const chunk of stream) chunks.push(chunk as Buffer);
        })();
        await Promise.all([reading, writePieces(stream, parts)]);
        expect(Buffer.concat(chunks).equals(Buffer.concat([SETTINGS, ...parts]))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test("are a prefix of what was sent after a cut anywhere, and the cut is an error", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, faults, fc.integer({ min: 0, max: 20_000 }), async (parts, wish, dropAfterBytes) => {
        fault = { ...wish, dropAfterBytes };
        const chunks: Buffer[] = [];
        let error: unknown;
        try {
          const stream = await dial(AbortSignal.timeout(20_000));
          const writing = writePieces(stream, parts).catch(() => undefined);
          for await (const chunk of stream) chunks.push(chunk as Buffer);
          await writing;
        } catch (cause) {
          error = cause;
        }
        const [got, whole] = [Buffer.concat(chunks), Buffer.concat([SETTINGS, ...parts])];
        expect(got.equals(whole.subarray(0, got.length))).toBe(true);
        // Without an error the status has come, and everything before it.
        if (error === undefined) expect(got.length).toBe(whole.length);
        else expect(error).toBeInstanceOf(DialError);
      }),
      { numRuns: 60 },
    );
  });
});
