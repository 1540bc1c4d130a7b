import type { InputSpec, OutputSpec } from "@steps/model/definition";

/** A required text. */
export function text(description: string): InputSpec {
  return { type: "string", isSensitive: false, description };
}

/** A text that is empty where none is given. */
export function optional(description: string): InputSpec {
  return { ...text(description), default: "" };
}

/** An object that is empty where none is given. */
export function struct(description: string): InputSpec {
  return { type: "struct", isSensitive: false, default: {}, description };
}

/** A switch that is off where none is given. */
export function flag(description: string): InputSpec {
  return { type: "boolean", isSensitive: false, default: false, description };
}

/** A required number. */
export function number(description: string): InputSpec {
  return { type: "number", isSensitive: false, description };
}

/** An output. */
export function output(type: OutputSpec["type"], description?: string): OutputSpec {
  return description === undefined ? { type, isSensitive: false } : { type, isSensitive: false, description };
}

/** A list that is empty where none is given. */
export function list(description: string): InputSpec {
  return { type: "array", isSensitive: false, default: [], description };
}
