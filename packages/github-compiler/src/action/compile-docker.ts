import type { YamlNode } from "@steps/source";
import type { ExecDefinition } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { wrongType } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { readTexts } from "../reading/read-texts.ts";
import { templateOf } from "../reading/templates.ts";
import { literalOf } from "../reading/texts.ts";
import { readPhases } from "./compile-node.ts";
import type { Runs } from "./read-runs.ts";
import { pathOf } from "./read-path.ts";

/** The definition of a Docker action. */
export function compileDocker(reading: Reading, runs: Runs): ExecDefinition | undefined {
  const { keys, node } = runs;
  const imageNode = keys.get("image");
  if (imageNode === undefined) {
    reading.report.error(node, { code: "missing-key", message: `"runs" has no "image"` });
    return undefined;
  }
  const image = readImage(reading, imageNode);
  const literal = (name: string): string | undefined => {
    const value = keys.get(name);
    return value === undefined ? undefined : literalOf(reading, value, `"${name}"`);
  };
  const entrypoint = literal("entrypoint");
  const args = readArgs(reading, keys.get("args"));
  const phases = readPhases(reading, runs, literal);
  const env = readTexts(reading, keys.get("env"), {
    what: `"env" of "runs"`,
    at: "docker-env",
    pointer: ["definition", "env"],
    isEnv: true,
  });
  placeAt(reading, ["definition", "github", "image"], imageNode);
  placeAt(reading, ["definition", "github", "entrypoint"], keys.get("entrypoint"));
  if (image === undefined) return undefined;
  return {
    type: "exec",
    command: ["docker"],
    env,
    github: {
      using: "docker",
      image,
      entrypoint,
      args,
      ...phases,
    },
  };
}

/** Whether a path names a Dockerfile: `Dockerfile`, `Dockerfile.*` or `*Dockerfile`, in any case. */
function isDockerfile(path: string): boolean {
  const name = (path.split(/[/\\]/).at(-1) ?? "").toLowerCase();
  return name.startsWith("dockerfile.") || name.endsWith("dockerfile");
}

function readImage(reading: Reading, node: YamlNode): string | undefined {
  const text = literalOf(reading, node, `"image"`);
  if (text === undefined) return undefined;
  if (/^docker:\/\//i.test(text)) {
    const name = text.slice("docker://".length).trim();
    if (name !== "" && !/\s/.test(name) && !name.startsWith("-")) return `docker://${name}`;
  } else if (isDockerfile(text)) return pathOf(reading, node, `"image"`);
  reading.report.error(node, {
    code: "invalid-image",
    message: `${quote(text)} is neither docker://IMAGE nor the path of a Dockerfile`,
    hint: "An image of a registry is written docker://alpine:3.",
  });
  return undefined;
}

function readArgs(reading: Reading, node: YamlNode | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined;
  if (node.kind !== "list") {
    wrongType(reading, node, `"args" must be a list`, "Write each argument as an item.");
    return undefined;
  }
  return node.items.map((item, index) => {
    placeAt(reading, ["definition", "github", "args", "words", index], item);
    return templateOf(reading, item, { what: `Argument ${index + 1}`, at: "docker-args" }) ?? "";
  });
}
