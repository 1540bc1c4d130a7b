export { canonicalJson } from "./canonical.ts";
export { escapePointer, unescapePointer } from "./pointer.ts";
export { equalValues, formatNumber, formatValue, secretTexts, typeOf } from "./value.ts";
