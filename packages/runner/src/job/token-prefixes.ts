/** How many prefixes a service takes, and in what form. */
const MAX_PREFIXES = 15;
const PREFIX = /^[ -~]{1,64}$/;

/** The prefixes of tokens that a service is told to mask. */
export interface TokenPrefixes {
  readonly taken: readonly string[];
  /** How many others the server names. */
  readonly left: number;
}

/** Reads what a server names in `features.token_mask_prefixes`. What it names first counts, as for gitlab-runner. */
export function readTokenPrefixes(named: readonly string[]): TokenPrefixes {
  const different = [...new Set(named)];
  const taken = different.filter((prefix) => PREFIX.test(prefix)).slice(0, MAX_PREFIXES);
  return { taken, left: different.length - taken.length };
}

/** Says what is not masked, if a server names more or others than a service takes. */
export function describeLeft({ left }: TokenPrefixes): string | undefined {
  if (left === 0) return undefined;
  return (
    `The server names ${left} ${left === 1 ? "prefix" : "prefixes"} of tokens that are not masked: ` +
    `${MAX_PREFIXES} are taken, each of 1 to 64 characters of printable ASCII`
  );
}
