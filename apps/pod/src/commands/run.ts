import { defineCommand, flag, grouped, type OptionsOf } from "@steps/console";
import { errors, print, progressMode, StopSignals } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { adminClient } from "../admin-client.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson } from "../table.ts";

const flags = {
  variable: flag.pairs({ placeholder: "NAME=VALUE", summary: "A variable of the pipeline; repeat for more" }),
  project: flag.text({
    placeholder: "PATH",
    summary:
      "The project on the pod, which is made if there is none; by default that of the remote origin, or local/FOLDER",
  }),
  protected: flag.boolean({ summary: "The ref is protected: runners that take no other jobs may take these" }),
  start: flag.list({ placeholder: "JOB", summary: "Start a manual job when its turn comes; repeat for more" }),
  follow: flag.boolean({
    default: true,
    summary: "Show the jobs until all have ended; --no-follow prints the id of the pipeline and ends",
  }),
  quiet: flag.boolean({ short: "q", summary: "Show neither the output of the jobs nor the table at the end" }),
  progress: flag.choice(["auto", "tree", "plain", "quiet"], {
    summary:
      "How the jobs are shown on standard error: a tree that grows, lines, or not at all; auto is a tree on a terminal",
    default: "auto",
  }),
  ...grouped("The commit", {
    ref: flag.text({ placeholder: "BRANCH", summary: "The branch; the one that is checked out by default" }),
    tag: flag.text({ placeholder: "TAG", summary: "The pipeline is of a tag" }),
    repository: flag.text({
      placeholder: "URL",
      summary: "Where runners fetch the commit; the remote origin by default, or the folder itself without one",
    }),
  }),
  ...podFlags,
};
type Options = OptionsOf<typeof flags>;

export const run = defineCommand({
  name: "run",
  summary: "Run the pipeline of a CI file on a pod, by its runners, and follow it to its end",
  usage: "[FILE|FOLDER|REPOSITORY] [flags]",
  description: [
    "The file is read here, with everything that it includes; the pod gets the jobs with their order, and runners fetch the commit. " +
      "Without an argument it is the .gitlab-ci.yml of this folder; a repository is a URL that git clones.",
    "A table at the end tells each job with its result, and below it stands the end of the output of those that failed. The exit code is 0 " +
      "if all jobs passed, were skipped or may fail; otherwise that of the first job that failed. Ctrl-C cancels the pipeline; a second one leaves at once.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["pod run", "run the .gitlab-ci.yml of this folder"],
    ["pod run --variable TARGET=staging --start deploy", "with a variable, and a manual job"],
    ["pod run ci.yml --report json", "print the results for a program"],
    ["pod run https://gitlab.com/group/project.git --ref main", "run the pipeline of a repository"],
  ],
  run: runPipeline,
});

async function runPipeline(options: Options, [source = "."]: readonly string[]): Promise<number> {
  const pod = adminClient(options);
  const mode = progressMode(options);
  const quiet = mode === "quiet";
  using stop = new StopSignals();
  const { openProject } = await import("../run/open-project.ts");
  const { readProjectPipeline } = await import("../run/read-project-pipeline.ts");
  using project = await openProject(source, options.ref ?? options.tag);
  const wanted = { ...options, repository: options.repository ?? project.url };
  const request = await readProjectPipeline(project.file, wanted, stop.signal);
  if (stop.signal.aborted) return stop.exitCode ?? 1;
  if (request === undefined) return COMMAND_EXITS.input.code;
  const { followPipeline } = await import("../run/follow-pipeline.ts");
  const { formatTable, pipelineExitCode, PipelineView, printReport, statusOf } = await import("@steps/pipeline-view");
  const created = await pod.call<{ readonly id: number; readonly state: string }>("POST", "/pipelines", request);
  if (!options.follow) {
    await print(options.report === "json" ? formatJson(created) : `${created.id}\n`);
    return 0;
  }
  const isJson = options.report === "json";
  if (!quiet) await errors.writeLines(`Pipeline ${created.id} of ${request.project}: ${request.jobs.length} jobs\n`);
  const view = new PipelineView({ isQuiet: quiet, mode, hasReport: isJson });
  const results = await followPipeline({ pod, view, stop, request, id: created.id, showsTraces: !quiet });
  const summary = view.end();
  if (isJson) await printReport("json", view.rows, { result: statusOf(results), path: project.file });
  else if (!quiet) await errors.writeLines(`\n${formatTable(view.rows)}${summary}${view.explanations}`);
  return stop.exitCode ?? pipelineExitCode(results, undefined);
}
