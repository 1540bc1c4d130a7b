import { createMasker, type Masker } from "@steps/trace/mask";
import { absolute, atMost, median, type Row } from "../measure.ts";

const MIB = 1024 * 1024;
const SHOWN_BYTES = 32 * MIB;
const ROUNDS = 3;

/** Masking of a log in the same process, against copying its bytes; and what the secrets need of memory and time. */
export function masking(): Row[] {
  const chunk = Buffer.from(
    Array.from({ length: 800 }, (_, i) => `the build of target ${i * 7919} took ${i}.${i % 7} s in /work/a/b\n`).join(
      "",
    ),
  );
  const floor = copied(chunk);
  const rows = [ratio("32 MiB of log, no secret : a copy", floor, shown(createMasker(), chunk), 1)];
  rows.push(...measured("one secret", floor, ["s3cret-value-of-a-job"], { ratio: 10, mib: 16, seconds: 1 }));
  const many = secretsOf(10_000, 40);
  rows.push(...measured("10,000 secrets of 40 bytes", floor, many, { ratio: 80, mib: 250, seconds: 15 }));
  const large = secretsOf(10_000, 6710);
  rows.push(...measured("10,000 secrets, 64 MiB", floor, large, { ratio: 120, mib: 250, seconds: 30 }));
  const lines = [secretsOf(200_000, 320).join("\n")];
  rows.push(...measured("200,000 lines of 320 bytes", floor, lines, { ratio: 120, mib: 400, seconds: 25 }));
  return rows;

  function measured(name: string, copy: number, secrets: readonly string[], limits: Limits): Row[] {
    const before = memory();
    const start = process.cpuUsage();
    const masker = createMasker();
    for (const secret of secrets) masker.add(secret);
    masker.text("the first text builds what is looked for");
    const known = cpuMs(start) / 1000;
    const mib = (memory() - before) / MIB;
    const last = (secrets.at(-1) ?? "").slice(-200_000);
    if (masker.text(`<${last}>`).includes(last.slice(-30, -5))) throw new Error(`${name}: a secret is shown`);
    return [
      absolute(`${name}: until they are known`, { measured: known, limit: limits.seconds, unit: "s" }),
      absolute(`${name}: memory`, { measured: mib, limit: limits.mib, unit: "MiB" }),
      ratio(`32 MiB of log, ${name} : a copy`, copy, shown(masker, chunk), limits.ratio),
    ];
  }
}

interface Limits {
  readonly ratio: number;
  readonly mib: number;
  readonly seconds: number;
}

function ratio(name: string, floor: number, measured: number, limit: number): Row {
  return atMost(name, { floor, measured, limit });
}

function copied(chunk: Uint8Array): number {
  return timed(() => {
    const target = Buffer.alloc(SHOWN_BYTES + chunk.length);
    for (let bytes = 0; bytes < SHOWN_BYTES; bytes += chunk.length) target.set(chunk, bytes);
  });
}

function shown(masker: Masker, chunk: Uint8Array): number {
  return timed(() => {
    const stream = masker.stream();
    for (let bytes = 0; bytes < SHOWN_BYTES; bytes += chunk.length) stream.push(chunk);
    stream.end();
  });
}

function timed(run: () => void): number {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = process.cpuUsage();
    run();
    if (round > 0) times.push(cpuMs(start));
  }
  return median(times);
}

// The machine may be busy with something else.
function cpuMs(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function memory(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Texts that no log holds, the same each time. */
function secretsOf(count: number, length: number): string[] {
  let state = 1;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return Array.from({ length: count }, () => {
    let text = "";
    while (text.length < length) text += next().toString(36);
    return text.slice(0, length);
  });
}
