import { checkImage, type RegistryCredentials } from "@steps/containers";
import type { ContainerSpec } from "@steps/containers/job";
import { ExecuteError } from "@steps/executor/kit";
import { createObject, type Value } from "@steps/model";
import { splitWords } from "./split-words.ts";

/** Options that the runner sets itself, and no workflow may. */
const OWN_OPTIONS = /^--?(?:network|net|entrypoint)(?:=|$)/;

/**
 * Evaluates the texts of a container. `undefined`: its image evaluates to nothing, so there is none.
 *
 * @param what as messages name it: `service "redis"`
 * @throws {ExecuteError} REFERENCE_INVALID
 */
export function readContainerSpec(
  value: Value,
  what: string,
  evaluate: (text: string) => string,
): ContainerSpec | undefined {
  const fields = recordOf(value);
  const text = (name: string): string => textOf(fields[name], evaluate).trim();
  const list = (name: string): string[] => {
    const items = fields[name];
    const texts = Array.isArray(items) ? items.map((item) => textOf(item, evaluate).trim()) : [];
    return texts.filter((item) => item !== "");
  };
  const image = text("image").replace(/^docker:\/\//i, "");
  if (image === "") return undefined;
  checkImage(image);
  const options = splitWords(text("options"));
  const refused = options.find((word) => OWN_OPTIONS.test(word));
  if (refused !== undefined) {
    throw new ExecuteError("REFERENCE_INVALID", `${what}: the option "${refused}" is not supported`);
  }
  const credentials = readCredentials(fields["credentials"], what, evaluate);
  const entrypoint = text("entrypoint");
  return {
    image,
    env: readEnv(fields["env"], evaluate),
    ports: list("ports"),
    volumes: list("volumes"),
    options,
    ...(entrypoint === "" ? {} : { entrypoint }),
    command: splitWords(text("command")),
    credentials,
  };
}

function readEnv(value: Value | undefined, evaluate: (text: string) => string): Record<string, string> {
  const env = createObject<string>();
  for (const [name, text] of Object.entries(recordOf(value))) {
    const isName = name !== "" && !name.includes("=") && !name.includes("\0");
    if (isName) env[name] = textOf(text, evaluate);
  }
  return env;
}

function readCredentials(
  value: Value | undefined,
  what: string,
  evaluate: (text: string) => string,
): RegistryCredentials | undefined {
  if (value === undefined || value === null) return undefined;
  const fields = recordOf(value);
  const username = textOf(fields["username"], evaluate);
  const password = textOf(fields["password"], evaluate);
  if (username !== "" && password !== "") return { username, password };
  const missing = username === "" ? "username" : "password";
  throw new ExecuteError("REFERENCE_INVALID", `${what}: the ${missing} of its credentials is empty`, {
    hint: "A secret that is not given is empty: --secret NAME=VALUE.",
  });
}

function recordOf(value: Value | undefined): Readonly<Record<string, Value>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? value : {};
}

function textOf(value: Value | undefined, evaluate: (text: string) => string): string {
  if (value === undefined || value === null) return "";
  return evaluate(typeof value === "string" ? value : JSON.stringify(value));
}
