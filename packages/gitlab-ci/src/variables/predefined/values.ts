/** Values of predefined variables by their names; `undefined` for those that have none. */
export type PredefinedValues = Readonly<Record<string, string | undefined>>;
