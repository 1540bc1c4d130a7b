import { UsageError } from "@steps/console";

/** Reads the id of a job from the arguments. @throws {UsageError} */
export function idOf([text = ""]: readonly string[]): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`"${text}" is no id of a job`, '"pod jobs" lists them.');
  return Number(text);
}
