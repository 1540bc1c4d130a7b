import { clientVariables, type ContainerCli, dockerBuildCommand } from "@steps/containers";
import type { Run, StepEnd } from "@steps/executor/kit";
import { runCliStep } from "./run-cli-step.ts";

/** An image to build. */
export interface ImageBuild {
  /** The name that the action is shown by. */
  readonly title: string;
  readonly cli: ContainerCli;
  /** Absolute. */
  readonly dockerfile: string;
  readonly context: string;
  readonly tag: string;
}

/** Builds the image of an action, in a record of its own before the action's. */
export function buildImage(run: Run, { title, cli, dockerfile, context, tag }: ImageBuild): Promise<StepEnd> {
  return runCliStep(run, {
    name: `Build ${title}`,
    command: dockerBuildCommand({ cli, dockerfile, context, tag }),
    workDir: context,
    env: clientVariables(),
    failure: "the image of the action cannot be built",
  });
}
