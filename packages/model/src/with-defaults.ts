/** The defaults with what is given in their place; what is given as `undefined` is not given. Neither is changed. */
export function withDefaults<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given | undefined,
): Defaults & Given {
  const said = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(said) as Given) };
}
