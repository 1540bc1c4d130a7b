import type { YamlNode } from "@steps/source";
import type { ExpressionPlace } from "@steps/github-language";
import { createObject } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { entriesOf } from "./mapping.ts";
import { placeAt, type Reading } from "./reading.ts";
import { templateOf } from "./templates.ts";

export interface ReadTextsOptions {
  readonly what: string;
  readonly at: ExpressionPlace;
  /** The pointer to the texts in the baseline. */
  readonly pointer: readonly (string | number)[];
  /** The names are those of environment variables. */
  readonly isEnv?: boolean;
}

/** Reads a mapping of names to texts with expressions: `env`, `with`, `outputs`. */
export function readTexts(
  reading: Reading,
  node: YamlNode | undefined,
  { what, at, pointer, isEnv = false }: ReadTextsOptions,
): Record<string, string> {
  const texts: Record<string, string> = createObject();
  for (const [name, { key, value }] of entriesOf(reading, node, what)) {
    if (name === "" || name.includes("\0") || (isEnv && name.includes("="))) {
      reading.report.error(key, { code: "invalid-name", message: `A name in ${what} is malformed: ${quote(name)}` });
      continue;
    }
    texts[name] = templateOf(reading, value, { what: `${quote(name)} of ${what}`, at }) ?? "";
    placeAt(reading, [...pointer, name], value);
  }
  return texts;
}
