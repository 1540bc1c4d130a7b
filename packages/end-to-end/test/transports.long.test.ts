import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAndFollow } from "@steps/client";
import { isFullSize } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cuttable, randomPlaces, TRANSPORTS, writeData } from "./transport-harness.ts";

const CUTS = 20;
const SIZES = isFullSize ? [20 * 1000 * 1000, 1024 * 1024 * 1024] : [20 * 1000 * 1000];

describe("output through every transport while it is cut", () => {
  let dir: string;
  let files: ReadonlyMap<number, { readonly file: string; readonly sha256: string }>;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "steps-transports-"));
    files = new Map(SIZES.map((bytes) => [bytes, writeData(dir, bytes)]));
  }, 600_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  describe.each(TRANSPORTS)("$name", ({ name, isThere, open, isSecondWay }) => {
    test.skipIf(!isThere()).each(isSecondWay === true ? SIZES.slice(0, 1) : SIZES)(
      "%i bytes",
      async (bytes) => {
        await using way = await open(dir);
        const { dial, cut, count } = cuttable(way.dial);
        const places = randomPlaces(bytes, CUTS);
        const hash = createHash("sha256");
        let received = 0;
        let cuts = 0;
        const definition = JSON.stringify([{ name: "cat", exec: { command: ["cat", `${way.data}/${bytes}`] } }]);
        const start = performance.now();
        const { exitCode } = await runAndFollow(
          dial,
          { definition },
          {
            onOutput: (stream, piece) => {
              if (stream === "stderr") return;
              hash.update(piece);
              received += piece.length;
              if (received < (places[0] ?? Number.POSITIVE_INFINITY)) return;
              // Places that lie close together are one cut after the other, too.
              places.shift();
              cuts += 1;
              cut();
            },
          },
        );
        const seconds = (performance.now() - start) / 1000;
        expect({ exitCode, received, sha256: hash.digest("hex"), cuts }).toEqual({
          exitCode: 0,
          received: bytes,
          sha256: files.get(bytes)?.sha256,
          cuts: CUTS,
        });
        expect(count()).toBeGreaterThan(1);
        const table = process.env["STEPS_TRANSPORT_TABLE"];
        if (table !== undefined)
          appendFileSync(
            table,
            `| ${name} | ${bytes} | ${cuts} | yes | ${(bytes / 1e6 / seconds).toFixed(0)} MB/s |\n`,
          );
      },
      300_000,
    );
  });
});
