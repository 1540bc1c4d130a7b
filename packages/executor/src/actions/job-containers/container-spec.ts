import { createObject, type Value } from "@steps/model";
import { ExecuteError } from "../../execute-error.ts";
import { checkImage } from "../docker-command.ts";
import { splitWords } from "../split-words.ts";

/** A container of a job, with nothing left to evaluate. */
export interface ContainerSpec {
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  /** Words for the command that starts it. */
  readonly options: readonly string[];
  readonly entrypoint?: string;
  readonly command: readonly string[];
  readonly credentials?: RegistryCredentials;
}

/** Who asks a registry for an image. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** What the runner decides itself. */
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
  const credentials = readCredentials(fields["credentials"], evaluate);
  const entrypoint = text("entrypoint");
  return {
    image,
    env: readEnv(fields["env"], evaluate),
    ports: list("ports"),
    volumes: list("volumes"),
    options,
    ...(entrypoint === "" ? {} : { entrypoint }),
    command: splitWords(text("command")),
    ...(credentials === undefined ? {} : { credentials }),
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
  evaluate: (text: string) => string,
): RegistryCredentials | undefined {
  const fields = recordOf(value);
  const username = textOf(fields["username"], evaluate);
  const password = textOf(fields["password"], evaluate);
  return username === "" || password === "" ? undefined : { username, password };
}

function recordOf(value: Value | undefined): Readonly<Record<string, Value>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, Value>>) : {};
}

function textOf(value: Value | undefined, evaluate: (text: string) => string): string {
  if (value === undefined || value === null) return "";
  return evaluate(typeof value === "string" ? value : JSON.stringify(value));
}
