import { createObject } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";

/**
 * The action that a folder without a manifest is, if it has a Dockerfile: it takes `entrypoint` and `args`.
 * `dockerfile` is the file's name: `Dockerfile` or `dockerfile`.
 */
export function compileDockerfileAction(dockerfile: string = "Dockerfile"): SpecDefinition {
  return dockerAction(dockerfile);
}

/** The action that an image is, `docker://IMAGE`: it takes `entrypoint` and `args`. `image` is without the `docker://`. */
export function imageAction(image: string): SpecDefinition {
  return dockerAction(`docker://${image.replace(/^docker:\/\//i, "")}`);
}

function dockerAction(image: string): SpecDefinition {
  const inputs = createObject(
    ["entrypoint", "args"].map((name) => [name, { type: "string", default: "", isSensitive: false } as const]),
  );
  return {
    spec: { inputs, outputs: createObject(), hasOpenOutputs: true },
    definition: { type: "exec", command: ["docker"], env: createObject(), github: { using: "docker", image } },
  };
}
