import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/** A pair of named pipes in a folder of their own. */
export class Fifos {
  readonly dir: string;
  readonly stdout: string;
  readonly stderr: string;

  constructor(dir: string) {
    this.dir = dir;
    this.stdout = join(dir, "stdout");
    this.stderr = join(dir, "stderr");
  }
}

/** So many pairs below an existing private directory; none where there is no `mkfifo`, or no room. Never rejects. */
export async function makeFifos(dir: string, count = 1): Promise<Fifos[]> {
  const pairs = Array.from({ length: count }, () => new Fifos(join(dir, `pipe-${randomBytes(8).toString("hex")}`)));
  try {
    for (const pair of pairs) mkdirSync(pair.dir, { mode: 0o700 });
    const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin` };
    const paths = pairs.flatMap(({ stdout, stderr }) => [stdout, stderr]);
    const child = spawn("mkfifo", ["-m", "600", ...paths], { env, stdio: "ignore" });
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0 ? pairs : [];
  } catch (error) {
    // The directory is full or gone, or there is no such program.
    void error;
    return [];
  }
}

export function removeFifos(fifos: Fifos): void {
  try {
    unlinkSync(fifos.stdout);
    unlinkSync(fifos.stderr);
    rmdirSync(fifos.dir);
  } catch (error) {
    // They are gone already, or they go with the job's directory.
    void error;
  }
}
