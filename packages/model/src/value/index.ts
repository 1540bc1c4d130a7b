export { canonicalJson } from "./canonical.ts";
export { equalValues, formatNumber, formatValue, secretTexts, typeOf } from "./value.ts";
