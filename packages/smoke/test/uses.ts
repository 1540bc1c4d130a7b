/** Something real that a package is used for: a module for plain Node, and what it prints. */
export interface Use {
  readonly name: string;
  readonly code: string;
  readonly output: string;
}

export const uses: readonly Use[] = [
  {
    name: "@steps/model",
    code: `
      import { sensitive } from "@steps/model";
      import { formatReference, parseReference } from "@steps/model/reference";
      console.log(formatReference(parseReference("https://u:t@gitlab.com/g/p/-/a/b@v1")));
      console.log(sensitive("secret"));`,
    output: "gitlab.com/g/p/-/a/b@v1\n[MASKED]",
  },
  {
    name: "@steps/proto",
    code: `
      import { create, toJsonString } from "@bufbuild/protobuf";
      import { DefinitionSchema, DefinitionType } from "@steps/proto";
      const exec = { command: ["echo"] };
      console.log(toJsonString(DefinitionSchema, create(DefinitionSchema, { type: DefinitionType.exec, exec })));`,
    output: '{"type":"exec","exec":{"command":["echo"]}}',
  },
  {
    name: "@steps/expression",
    code: `
      import { createScope, expand, expandText } from "@steps/expression";
      console.log(expand("\${{ 1 + 1 }}", createScope({})));
      console.log(expandText("hello \${{ who }}", createScope({ who: "world" })));`,
    output: "2\nhello world",
  },
  {
    name: "@steps/compiler",
    code: `
      import { compileStepFile } from "@steps/compiler";
      const compile = (text) => compileStepFile({ name: "func.yml", text });
      const good = compile("spec:\\n  inputs:\\n    who: {default: world}\\n---\\nexec:\\n  command: [echo, hello]\\n");
      console.log(JSON.stringify(good.specDefinition.definition.command), good.specDefinition.spec.inputs.who.default);
      const bad = compile("spec:\\n  inptus: {}\\n---\\nexec:\\n  command: [echo]\\n");
      const [error] = bad.diagnostics.filter(({ severity }) => severity === "error");
      console.log(bad.specDefinition, error.position.line, error.position.column);`,
    output: '["echo","hello"] world\nundefined 2 3',
  },
  {
    name: "@steps/gitlab-ci",
    code: `
      import { compileJob } from "@steps/gitlab-ci";
      import { loadPipelineNow } from "@steps/gitlab-ci/load";
      const text = "hello:\\n  variables: {WHO: world}\\n  script:\\n    - echo $WHO\\n";
      const { pipeline } = loadPipelineNow({ name: ".gitlab-ci.yml", text });
      const { job } = compileJob(pipeline, { jobName: "hello" });
      console.log(job.name, job.variables.WHO, job.specDefinition.definition.steps.length);`,
    output: "hello world 1",
  },
];
