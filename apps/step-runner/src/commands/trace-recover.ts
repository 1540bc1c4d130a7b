import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { errors, print, writeWhole } from "@steps/console/terminal";
import { openEngine } from "../open-engine.ts";
import { stateDir } from "../flags/run-flags.ts";
import { encodeTrace } from "@steps/trace";
import { encodePipelineTrace } from "@steps/trace/pipeline";

const flags = {
  "output-file": flag.text({
    short: "o",
    placeholder: "FILE",
    summary: "Write the trace to a file; standard output by default",
  }),
  "state-dir": stateDir,
};
type Options = OptionsOf<typeof flags>;

export const traceRecover = defineCommand({
  name: "trace recover",
  summary: "Make a trace from the journal of a run or a pipeline that did not end",
  usage: "[JOURNAL] [flags]",
  description: [
    "JOURNAL is a trace.jsonl or the folder it lies in; without it the newest run or pipeline is taken that neither ended nor still " +
      "runs. A pipeline comes with the traces of its jobs. Steps that were running are shown as interrupted.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [["step-runner trace recover --output-file trace.json", "after the runner was killed"]],
  run,
});

async function run(options: Options, [journal]: readonly string[]): Promise<number> {
  await using engine = openEngine(options);
  const { outputFile } = options;
  const pipeline = await engine.recoverPipeline(journal);
  const recovered = pipeline ?? (await engine.recover(journal));
  const { trace } = recovered;
  const text = "root" in trace ? encodeTrace(trace) : encodePipelineTrace(trace);
  if (outputFile === undefined) await print(text);
  else {
    writeWhole(outputFile, text);
    recovered.close();
  }
  const torn = recovered.isTorn ? "; its last line was cut off" : "";
  const killed = recovered.killed === 0 ? "" : `; ended ${recovered.killed} processes that were left`;
  await errors.write(Buffer.from(`Recovered from ${recovered.journal}${torn}${killed}\n`));
  return 0;
}
