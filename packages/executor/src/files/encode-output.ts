import { NAME_PATTERN } from "@steps/model/definition";
import { ExecuteError } from "../outcome/execute-error.ts";
import { parseJson } from "../values/json-value.ts";

/**
 * A line for an output or export file, with its line feed. A text that could be taken for something else is written as JSON;
 * any other stands as it is, so that the declared type of the output decides what it means. `isJson`: the text is a value in JSON.
 * `isSensitive`: it is marked as a secret.
 *
 * @throws {ExecuteError} OUTPUT_INVALID for a name or JSON that the file's reader would refuse
 */
export function encodeOutput(
  name: string,
  text: string,
  options: { readonly isJson?: boolean; readonly isSensitive?: boolean } = {},
): string {
  const mark = options.isSensitive === true ? { sensitive: true } : {};
  if (!NAME_PATTERN.test(name)) {
    throw new ExecuteError("OUTPUT_INVALID", `Not a name: ${JSON.stringify(name.slice(0, 80))}`, {
      hint: "A name has letters, digits and underscores, and does not begin with a digit.",
    });
  }
  if (options.isJson === true) {
    const parsed = parseJson(text);
    if (parsed === undefined) throw new ExecuteError("OUTPUT_INVALID", `The value of "${name}" is not valid JSON`);
    if (parsed.json === null) throw new ExecuteError("OUTPUT_INVALID", "The value is null, which no output can be");
    return `${JSON.stringify({ name, value: parsed.json, ...mark })}\n`;
  }
  const isPlain = options.isSensitive !== true && !/[\n\r\0]|^\s*"/.test(text);
  return isPlain ? `${name}=${text}\n` : `${JSON.stringify({ name, value: text, ...mark })}\n`;
}
