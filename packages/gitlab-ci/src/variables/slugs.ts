/** Longest slug: what a label of a host name may have. */
const MAX_LENGTH = 63;

/** A text as part of a host name, as in `CI_COMMIT_REF_SLUG`: lower case, `-` for all but letters and digits, 63 characters at most. */
export function slugify(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/gu, "-")
    .slice(0, MAX_LENGTH);
  let start = 0;
  let end = slug.length;
  while (slug[start] === "-") start += 1;
  while (end > start && slug[end - 1] === "-") end -= 1;
  return slug.slice(start, end);
}

/** Gives the SHA-256 of the UTF-8 bytes of a text in hexadecimal digits. */
export type Sha256 = (text: string) => string;

const MAX_ENVIRONMENT_LENGTH = 24;
const CUT_LENGTH = 17;
const SUFFIX_LENGTH = 6;

/**
 * The value of `CI_ENVIRONMENT_SLUG`: the name in lower case with `-` for all but letters and digits, beginning with a letter. A
 * name that had to be changed or is longer than 24 characters is cut, and ends with six digits of its digest in base 36.
 */
export function environmentSlug(name: string, sha256: Sha256): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/gu, "-");
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`).replaceAll(/-+/g, "-");
  if (slug.length <= MAX_ENVIRONMENT_LENGTH && slug === name) return slug.replace(/-$/, "");
  const cut = slug.slice(0, CUT_LENGTH);
  const suffix = BigInt(`0x${sha256(name)}`)
    .toString(36)
    .slice(-SUFFIX_LENGTH);
  return `${cut}${cut.endsWith("-") ? "" : "-"}${suffix}`;
}

/** Longest name of a job; GitLab refuses longer ones. */
const MAX_JOB_NAME = 255;

/** The name that the instances of a job share: `test 1/3` and `test: [linux, 20]` are of the group `test`. */
export function jobGroupName(name: string): string {
  if (name.length > MAX_JOB_NAME) return name;
  return name.replace(/(?:[\u0008\s:]+(?:\[.*\]|\d+[\s:/\\]+\d+)){1,3}\s*$/, "").trim();
}
