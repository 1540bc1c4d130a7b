/**
 * A process that hosts a job table, to be killed: runs what the file named first holds (a list of `[id, steps]`), and
 * prints a line for each thing that can be seen of it.
 */
import { readFileSync } from "node:fs";
import { openJobTable } from "../src/jobs/open-job-table.ts";
import { never, stepsJob, tableOptions } from "./job-fixtures.ts";

const [file = "", dir = ""] = process.argv.slice(2);
const jobs = JSON.parse(readFileSync(file, "utf8")) as [string, unknown][];
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const table = await openJobTable({ ...tableOptions(dir), log: (_, note, facts) => say({ note, ...facts }) });
for (const job of table.list()) say({ found: job.info });
for (const [id, steps] of jobs) {
  const job = table.run(stepsJob(dir, steps, { id }));
  void (async () => {
    for await (const { stream, bytes } of job.readOutput({ stdout: 0, stderr: 0 }, never)) {
      say({ id, stream, base64: Buffer.from(bytes).toString("base64") });
    }
    say({ id, ended: job.info });
  })();
}
say("ready");
