/**
 * The names of the functions of every expression, for those who only look at expressions: the functions themselves are many times
 * as large.
 */
export const FUNCTION_NAMES: readonly string[] = [
  "str",
  "num",
  "bool",
  "has",
  "get",
  "len",
  "contains",
  "keys",
  "values",
  "toJson",
  "fromJson",
  "startsWith",
  "endsWith",
  "join",
  "split",
  "trim",
  "lower",
  "upper",
  "replace",
];
