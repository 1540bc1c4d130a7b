import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { findLibraries } from "./workspace.ts";

/** Public functions, by their entries, with the place of their options among the arguments. */
const TAKES_OPTIONS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "@steps/cache": { createCache: 0 },
  "@steps/client": {
    cancelJob: 2,
    closeJob: 2,
    connectService: 1,
    followJob: 2,
    listJobs: 1,
    runAndFollow: 2,
    startJob: 2,
  },
  "@steps/compiler": { compileInput: 1, compilePrototext: 1, compileStepFile: 1, compileStepList: 1 },
  "@steps/dial": { createSshDialer: 0 },
  "@steps/engine": { createEngine: 0 },
  "@steps/engine/includes": { createIncludes: 0 },
  "@steps/executor": { execute: 0 },
  "@steps/github-compiler": { compileAction: 1, compileWorkflowJob: 1, listWorkflowJobs: 1 },
  "@steps/github-services": { startServices: 0 },
  "@steps/gitlab-ci": { compileJob: 1, judgeJob: 1 },
  "@steps/gitlab-ci/load": { loadPipeline: 1, loadPipelineNow: 1 },
  "@steps/gitlab-ci/payload": { compileServerJob: 1 },
  "@steps/gitlab-ci/pipeline": { judgePipeline: 1, planPipeline: 1 },
  "@steps/gitlab-ci/rules": { explainDecision: 1 },
  "@steps/gitlab-ci/server": { serverPipeline: 2 },
  "@steps/job-containers": { openContainers: 1, runInContainers: 1 },
  "@steps/kubernetes": { createKubernetesAccess: 0, runExec: 1, startExec: 1 },
  "@steps/pipeline": { runPipeline: 1 },
  "@steps/pod-router": { startRouter: 1 },
  "@steps/pod-tokens": { mintBuildToken: 1 },
  "@steps/pods": { serveDaemon: 0, servePod: 0 },
  "@steps/publish": { buildImageArchive: 1 },
  "@steps/runner": { startRunners: 0 },
  "@steps/runner-api/client": { connectRunnerApi: 0 },
  "@steps/service": { createService: 0, openJobTable: 0 },
  "@steps/service/listen": { listenPort: 1 },
  "@steps/source": { readYaml: 1 },
  "@steps/trace": { formatTrace: 1 },
  "@steps/trace/compare": { compareTraces: 2 },
  "@steps/trace/mask": { createMasker: 0 },
  "@steps/trace/pipeline": { formatPipelineTrace: 1 },
  "@steps/workspace": { copyProject: 0, planCopy: 0, takeSnapshot: 0 },
};

type Call = (...args: readonly unknown[]) => unknown;

async function entry(name: string): Promise<Readonly<Record<string, Call>>> {
  const library = findLibraries().find(({ name: own }) => name === own || name.startsWith(`${own}/`));
  if (library === undefined) throw new Error(`There is no package with the entry ${name}`);
  const exported = library.manifest.exports as Readonly<Record<string, { readonly "steps-source": string }>>;
  const source = exported[`.${name.slice(library.name.length)}`]?.["steps-source"] ?? "";
  return (await import(pathToFileURL(join(library.dir, source)).href)) as Readonly<Record<string, Call>>;
}

// TypeScript refuses the name where options are written out. Here nobody does, as in plain JavaScript.
test.each(Object.entries(TAKES_OPTIONS))("%s refuses an option that there is none of", async (name, functions) => {
  const found = await entry(name);
  for (const [symbol, place] of Object.entries(functions)) {
    const args = [...Array.from({ length: place }, () => ({})), { notAnOption: true }, {}];
    const call = async (): Promise<unknown> => await found[symbol]?.(...args);
    await expect(call(), symbol).rejects.toThrow(/has no option "notAnOption"/);
  }
});
