/** Something that a package is used for in a browser: a module that exports `result`. */
export interface BrowserUse {
  readonly name: string;
  readonly code: string;
  readonly result: unknown;
  /** How many bytes the module and all that it uses may have, minified and compressed; no limit when absent. */
  readonly maxGzipBytes?: number;
}

export const browserUses: readonly BrowserUse[] = [
  {
    name: "@steps/expression",
    code: `
      import { createScope, expand } from "@steps/expression";
      export const result = expand("\${{ vars.who + '!' }}", createScope({ vars: { who: "world" } }));`,
    result: "world!",
    maxGzipBytes: 75_000,
  },
  {
    name: "@steps/source",
    code: `
      import { childOf, readYaml, toValue } from "@steps/source";
      const { documents } = readYaml({ name: "a.yml", text: "who: [wörld]\\n" });
      export const result = toValue(childOf(documents[0], "who"));`,
    result: ["wörld"],
  },
  {
    name: "@steps/compiler",
    code: `
      import { compilePrototext, compileStepFile, hasErrors } from "@steps/compiler";
      const text = "spec:\\n  inputs:\\n    who: {default: wörld}\\n---\\nexec:\\n  command: [echo, '\${{ inputs.who }}']\\n";
      const { specDefinition: { spec, definition } } = compileStepFile({ name: "func.yml", text });
      const wrong = compileStepFile({ name: "func.yml", text: "exec: {}\\n" });
      const prototext = compilePrototext({ name: "d.textproto", text: 'definition { exec { command: "w\\\\303\\\\266rld" } }' });
      export const result = [
        spec.inputs.who.default,
        definition.command,
        hasErrors(wrong.diagnostics),
        prototext.specDefinition?.definition.command ?? prototext.diagnostics,
      ];`,
    result: ["wörld", ["echo", "${{ inputs.who }}"], true, ["wörld"]],
    maxGzipBytes: 75_000,
  },
  {
    name: "@steps/gitlab-ci",
    code: `
      import { compileJob } from "@steps/gitlab-ci";
      import { loadPipelineNow } from "@steps/gitlab-ci/load";
      import { decideJob, evaluateIf, parseIf } from "@steps/gitlab-ci/rules";
      const text = "hello:\\n  variables: {WHO: world}\\n  script:\\n    - echo $WHO\\n";
      const { pipeline } = loadPipelineNow({ name: ".gitlab-ci.yml", text });
      const { job } = compileJob(pipeline, { jobName: "hello" });
      const { holds } = evaluateIf(parseIf('$WHO == "world"'), { valueOf: (name) => job.variables[name] });
      export const result = [job.name, job.variables.WHO, holds, typeof decideJob];`,
    result: ["hello", "world", true, "function"],
  },
  {
    name: "@steps/github-language",
    code: `
      import { evaluateText } from "@steps/github-language";
      export const result = evaluateText("hello \${{ env.WHO }}", { contexts: { env: { WHO: "world" } } });`,
    result: "hello world",
  },
  {
    name: "@steps/github-compiler",
    code: `
      import { compileAction } from "@steps/github-compiler";
      const text = "name: a\\ndescription: b\\nruns:\\n  using: node20\\n  main: index.js\\n";
      const { specDefinition } = compileAction({ name: "action.yml", text });
      export const result = specDefinition.definition.github.using;`,
    result: "node20",
  },
];
