// The engine's own search takes the product of both lengths at worst; above this the linear one is used.
const MAX_PRODUCT = 1_000_000_000;

/** `text.indexOf(needle, from)` in a time that is bounded by the sum of the lengths. The needle must not be empty. */
export function createSearch(text: string, needle: string): (from: number) => number {
  if (text.length * needle.length <= MAX_PRODUCT || needle.length === 1) return (from) => text.indexOf(needle, from);
  const borders = findBorders(needle);
  return (from) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
      if (needle.charCodeAt(matched) === unit) matched++;
      if (matched === needle.length) return at - matched + 1;
    }
    return -1;
  };
}

/** Yields the offset of each occurrence; occurrences do not overlap. */
export function* findAll(text: string, needle: string): Generator<number> {
  const search = createSearch(text, needle);
  for (let at = search(0); at !== -1; at = search(at + needle.length)) yield at;
}

// Knuth, Morris, Pratt: for each prefix the length of its longest border.
function findBorders(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    const unit = needle.charCodeAt(at);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] as number;
    if (needle.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
