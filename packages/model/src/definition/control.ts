import type { Step_ControlJson } from "../gen/step-json.ts";
import type { StepControl } from "./definition.ts";

/** The baseline message of a step's control; what is not said is left out. */
export function encodeControl(control: StepControl): Step_ControlJson {
  const { condition = "", continueOnError, timeoutMs, retry } = control;
  return {
    ...(condition === "" ? {} : { condition }),
    ...(continueOnError === true ? { continueOnError } : {}),
    ...encodeDuration("timeout", timeoutMs),
    ...(retry === undefined ? {} : { retry: { max: retry.max, ...encodeDuration("backoff", retry.backoffMs) } }),
  };
}

/** The way back from `encodeControl()`. */
export function decodeControl(json: Step_ControlJson): StepControl {
  const { condition = "", continueOnError, timeout, retry } = json;
  const { backoffMs = 0 } = decodeDuration("backoffMs", retry?.backoff);
  return {
    ...(condition === "" ? {} : { condition }),
    ...(continueOnError === true ? { continueOnError } : {}),
    ...decodeDuration("timeoutMs", timeout),
    retry: retry && { max: retry.max ?? 0, backoffMs },
  };
}

/** `{key: "1.500s"}`, as protobuf writes a Duration; nothing for no time. */
export function encodeDuration<Key extends string>(key: Key, ms: number | undefined): { [K in Key]?: string } {
  if (ms === undefined || ms === 0) return {};
  const seconds = ms / 1000;
  return { [key]: `${Number.isInteger(seconds) ? seconds : seconds.toFixed(3)}s` } as { [K in Key]?: string };
}

/** The way back from `encodeDuration()`, in milliseconds. */
export function decodeDuration<Key extends string>(key: Key, text: string | undefined): { [K in Key]?: number } {
  const seconds = /^([0-9]{1,12}(?:\.[0-9]{1,9})?)s$/.exec(text ?? "")?.[1];
  return seconds === undefined ? {} : ({ [key]: Math.round(Number(seconds) * 1000) } as { [K in Key]?: number });
}
