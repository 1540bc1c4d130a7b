import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Value } from "@steps/model";
import { BuiltinError } from "../../builtin-error.ts";
import { type BuiltinPlace, type Inputs, invalid } from "../../images/builtin-images.ts";
import { type Exported, type GitlabResult, objectList, objectOf, optionalText } from "../gitlab-step.ts";
import { claimsOf, createTokenKey, type TokenKey } from "./id-token.ts";
import { makeTempFolder, tempFolder, writeVariable } from "./temp-folder.ts";

/**
 * `gitlab/prepare`: sets the variables of a job that are more than texts: those of type file, secrets, and tokens that
 * say who the job is.
 */
export function prepareJob(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const folder = tempFolder(inputs, place);
  makeTempFolder(folder);
  const exports: Record<string, Exported> = {};
  for (const variable of objectList(inputs["variables"] ?? [], "variables")) {
    const name = optionalText(variable, "key");
    const value = optionalText(variable, "value");
    const isSensitive = variable["masked"] === true;
    exports[name] = variable["file"] === true ? fileOf(folder, name, value) : { value, isSensitive };
  }
  for (const [name, secret] of objectsOf(inputs, "secrets")) {
    const value = givenValue(secret, name);
    exports[name] = secret["file"] === false ? { value, isSensitive: true } : fileOf(folder, name, value);
  }
  const jwks = setTokens(inputs, { folder, exports, env: place.env });
  const names = Object.keys(exports);
  place.log(names.length === 0 ? `Made ${folder}` : `Set ${names.join(", ")}`);
  const outputs = { tmp_dir: folder, gitlab_env_file: join(folder, "gitlab_runner_env"), jwks_file: jwks };
  return Promise.resolve({ outputs, exports });
}

function fileOf(folder: string, name: string, value: string): Exported {
  return { value: writeVariable(folder, name, value), isSensitive: false };
}

function objectsOf(inputs: Inputs, input: string): [string, Readonly<Record<string, Value>>][] {
  const entries = Object.entries(objectOf(inputs[input] ?? {}, input));
  return entries.map(([name, value]) => [name, objectOf(value, `${input}: ${name}`)]);
}

function givenValue(of: Readonly<Record<string, Value>>, name: string): string {
  const { value } = of;
  if (typeof value === "string") return value;
  throw new BuiltinError("BUILTIN_FAILED", `Cannot resolve secret "${name}": no value is given for it here`, {
    hint: `No vault is asked on this machine; give the value: --secret ${name}=VALUE, or a masked variable of that name.`,
  });
}

/** Gives the path of the file with the public key, empty where no token was made. */
function setTokens(
  inputs: Inputs,
  options: { folder: string; exports: Record<string, Exported>; env: BuiltinPlace["env"] },
): string {
  const { folder, exports, env } = options;
  const claims = objectOf(inputs["claims"] ?? {}, "claims");
  const nowS = Math.floor(Date.now() / 1000);
  let key: TokenKey | undefined;
  for (const [name, token] of objectsOf(inputs, "id_tokens")) {
    const audience = token["aud"] ?? "";
    if (audience === "") throw invalid(`id_tokens: ${name} has no aud`);
    const { value } = token;
    if (typeof value !== "string") key ??= createTokenKey();
    const text = typeof value === "string" ? value : key?.sign(claimsOf(audience, { env, claims, nowS }));
    exports[name] = { value: text ?? "", isSensitive: true };
  }
  if (key === undefined) return "";
  const path = join(folder, "id_tokens.jwks.json");
  writeFileSync(path, `${JSON.stringify(key.jwks)}\n`);
  return path;
}
