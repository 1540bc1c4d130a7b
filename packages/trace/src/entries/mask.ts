export { createMasker, MASK, type Masker, type MaskOptions, type SecretOrigin } from "../mask.ts";
export type { MaskStream } from "../mask-stream.ts";
export { createRedactor, type Redactor } from "../redact.ts";
export { redactAgain } from "../redact-again.ts";
