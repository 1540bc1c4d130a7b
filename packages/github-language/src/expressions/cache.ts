const MAX_ENTRIES = 1000;
const MAX_KEY_LENGTH = 32 * 1024;
const MAX_CHARACTERS = 256 * 1024;

/** Keeps what was made of a text; see `createCache`. */
export interface Cache<T> {
  get(text: string, make: () => T): T;
}

/** A cache of what is made of texts. Bounded in entries and characters: the oldest go first. Long texts are not kept. */
export function createCache<T>(): Cache<T> {
  const entries = new Map<string, T>();
  let characters = 0;
  const makeRoom = (): void => {
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_ENTRIES && characters <= MAX_CHARACTERS) return;
      entries.delete(oldest);
      characters -= oldest.length;
    }
  };
  return {
    get(text, make) {
      const known = entries.get(text);
      if (known !== undefined) return known;
      const made = make();
      if (text.length > MAX_KEY_LENGTH) return made;
      entries.set(text, made);
      characters += text.length;
      makeRoom();
      return made;
    },
  };
}
