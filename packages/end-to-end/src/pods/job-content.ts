import { createHash } from "node:crypto";

/** The work of a runner of the trial on a job. */
export interface JobContent {
  readonly trace: Buffer;
  /** The bytes of its artifact, if it has one. */
  readonly artifact: Buffer | undefined;
}

const MAX_TRACE = 60_000;
const MAX_ARTIFACT = 200_000;

/**
 * The bytes that one attempt at a job writes. They follow from the name, the id and the attempt alone, so that the judge can
 * tell bytes of another job, or of another attempt, from those that belong there.
 */
export function contentOf(name: string, id: number, attempt: number): JobContent {
  const key = `${name} ${id} ${attempt}`;
  const dice = createHash("sha256").update(key).digest();
  const trace = bytesOf(`trace ${key}`, (dice.readUInt32BE(0) % MAX_TRACE) + 1);
  const hasArtifact = dice.readUInt8(4) < 64;
  return {
    trace: Buffer.concat([Buffer.from(`${key}\n`), trace]),
    artifact: hasArtifact ? bytesOf(`artifact ${key}`, (dice.readUInt32BE(5) % MAX_ARTIFACT) + 1) : undefined,
  };
}

function bytesOf(key: string, length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update(key).digest();
}
