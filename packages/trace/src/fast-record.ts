/**
 * Sets a member of a plain object, `__proto__` like any other.
 *
 * Objects without a prototype are hash tables from the first key; the environments of hundreds of steps, equal in their
 * keys, are written and read several times faster as plain objects.
 */
export function setMember<T>(record: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    record[key] = value;
  }
}

/** Applies a function to each value of an object, into a plain object. */
export function mapMembers<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  const result: Record<string, B> = {};
  for (const key of Object.keys(record)) setMember(result, key, map(record[key] as A));
  return result;
}
