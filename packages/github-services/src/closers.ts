/** Keeps the resources that were opened and must be closed again. */
export interface Closers {
  readonly add: (close: () => Promise<void>) => void;
  /** Runs what was added, last in, first out, once; a failure does not keep the others from being run. */
  readonly close: () => Promise<void>;
}

/** Makes an empty list of resources to close. */
export function createClosers(): Closers {
  const all: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const close of all.toReversed()) await close().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  };
  return {
    add: (close) => void all.push(close),
    close: async () => await (closing ??= closeAll()),
  };
}
