import { createObject } from "@steps/model";
import { NAME_PATTERN, type SecretSpec } from "@steps/model/definition";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import { checkName } from "../texts/check-name.ts";
import { checkTemplateNode, holdsExpression } from "../texts/check-template.ts";
import { asMapping, asText, checkKeys, type CompileContext, wrongType } from "../context.ts";
import { SECRET_KEYS } from "../keys/spec-keys.ts";

/** Reads the secrets that a spec asks for, by their names; `undefined` when it asks for none. */
export function readSecrets(
  context: CompileContext,
  spec: YamlMapping,
  pointer: string,
): Readonly<Record<string, SecretSpec>> | undefined {
  const node = childOf(spec, "secrets");
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  const mapping = asMapping(context, node, "secrets", "Write secrets: {NAME: {description: what for}}.");
  if (mapping === undefined || mapping.entries.size === 0) return undefined;
  context.places.set(`${pointer}/secrets`, mapping);
  const secrets = createObject<SecretSpec>();
  const variables = new Map<string, string>();
  for (const [name, { key, value }] of mapping.entries) {
    checkName(context, key, { what: "a secret" });
    context.places.set(`${pointer}/secrets/${escapePointer(name)}`, value);
    const secret = readSecret(context, value, name);
    const other = variables.get(secret.env);
    if (other !== undefined) {
      context.report.error(key, () => ({
        code: "duplicate-name",
        message: `The secrets "${other}" and "${name.slice(0, 80)}" are both given as the variable ${secret.env.slice(0, 80)}`,
        hint: "Write env: and another name.",
      }));
    }
    variables.set(secret.env, name.slice(0, 80));
    secrets[name] = secret;
  }
  return secrets;
}

function readSecret(context: CompileContext, node: YamlNode, name: string): SecretSpec {
  const simple: SecretSpec = { permissions: [], as: "env", env: name.toUpperCase(), isRequired: true };
  if (node.kind === "scalar" && node.value === null) return simple;
  const secret = asMapping(context, node, `The secret "${name.slice(0, 80)}"`);
  if (secret === undefined) return simple;
  // A baseline message has the same in other words.
  const known = context.acceptsBaseline ? [...SECRET_KEYS.known, "file", "optional"] : SECRET_KEYS.known;
  checkKeys(context, secret, { ...SECRET_KEYS, known });
  const description = childOf(secret, "description");
  const text = description === undefined ? "" : (asText(context, description, "description") ?? "");
  return {
    ...(text === "" ? {} : { description: text }),
    permissions: readPermissions(context, secret),
    as: readAs(context, secret),
    env: readVariable(context, secret) ?? simple.env,
    isRequired: (readFlag(context, secret, "required") ?? true) && readFlag(context, secret, "optional") !== true,
  };
}

function readPermissions(context: CompileContext, secret: YamlMapping): readonly string[] {
  const node = childOf(secret, "permissions");
  if (node === undefined) return [];
  if (node.kind === "list") return node.items.map((item) => asText(context, item, "A permission") ?? "");
  wrongType(context, node, "permissions must be a list of strings", "Write [read_api].");
  return [];
}

function readAs(context: CompileContext, secret: YamlMapping): "env" | "file" {
  if (readFlag(context, secret, "file") === true) return "file";
  const node = childOf(secret, "as");
  if (node === undefined) return "env";
  const text = node.kind === "scalar" ? node.text : "";
  if (text === "env" || text === "file") return text;
  context.report.error(node, () => ({
    code: "invalid-value",
    message: `Unknown value of as: ${node.kind === "scalar" ? `"${text.slice(0, 80)}"` : describeNode(node)}`,
    hint: "env: the variable holds the secret; file: it holds the path of a file with the secret.",
  }));
  return "env";
}

function readVariable(context: CompileContext, secret: YamlMapping): string | undefined {
  const node = childOf(secret, "env");
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "string") {
    checkName(context, node, { what: "a variable" });
    return NAME_PATTERN.test(node.value) ? node.value : undefined;
  }
  wrongType(context, node, "env of a secret must be the name of a variable");
  return undefined;
}

function readFlag(context: CompileContext, secret: YamlMapping, key: string): boolean | undefined {
  const node = childOf(secret, key);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  wrongType(context, node, `${key} must be true or false`);
  return undefined;
}

/**
 * Reads the secrets that an item of a list grants to its step, by the step's names for them, as texts with expressions. An
 * item that gives a list of names passes on the secrets that its caller has under the same names.
 */
export function readGrants(
  context: CompileContext,
  item: YamlMapping,
  pointer: string,
): Readonly<Record<string, string>> | undefined {
  const node = childOf(item, "secrets");
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  context.places.set(`${pointer}/secrets`, node);
  const grants = createObject<string>();
  if (node.kind === "list") {
    for (const name of node.items) {
      if (name.kind !== "scalar" || typeof name.value !== "string")
        wrongType(context, name, "The name of a secret must be a string");
      else {
        checkName(context, name, { what: "a secret" });
        context.places.set(`${pointer}/secrets/${escapePointer(name.value)}`, name);
        grants[name.value] = `\${{ secrets.${name.value} }}`;
      }
    }
  } else {
    const hint = "Write {NAME: ${{ vars.TOKEN }}}, or a list of names of your own secrets.";
    const mapping = asMapping(context, node, "secrets", hint);
    for (const [name, { key, value }] of mapping?.entries ?? []) {
      checkName(context, key, { what: "a secret" });
      context.places.set(`${pointer}/secrets/${escapePointer(name)}`, value);
      grants[name] = readGrant(context, value, name);
    }
  }
  return Object.keys(grants).length === 0 ? undefined : grants;
}

function readGrant(context: CompileContext, node: YamlNode, name: string): string {
  const text = asText(context, node, `The secret "${name.slice(0, 80)}"`) ?? "";
  if (text !== "" && !holdsExpression(text)) {
    context.report.error(node, {
      code: "literal-secret",
      message: `The secret "${name.slice(0, 80)}" is written out`,
      hint: "Write where it is to be found: ${{ vars.NAME }} or ${{ secrets.NAME }}.",
    });
  }
  checkTemplateNode(context, node);
  return text;
}
