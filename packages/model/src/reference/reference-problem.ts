import { publicUrl } from "./public-url.ts";

/** A text that is no reference, and what to write instead. */
export interface ReferenceProblem {
  readonly message: string;
  readonly hint?: string;
}

/** Characters that no part of a reference may hold: they would end a line or a terminal's sequence. */
export const CONTROL: RegExp = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * Returns the problem with a revision by the rules of `git check-ref-format`, or `undefined`. A leading `-` is refused
 * too.
 */
export function versionProblem(version: string): ReferenceProblem | undefined {
  if (version === "") {
    return {
      message: "The reference names an empty revision",
      hint: "Write a branch, a tag or a commit behind the @.",
    };
  }
  if (version.startsWith("-")) return { message: `The revision looks like an option: "${version.slice(0, 80)}"` };
  // eslint-disable-next-line no-control-regex -- control characters are what this refuses
  const malformed = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|\.lock(?:\/|$)|(?:^|\/)\.|^@$/.test(
    version,
  );
  return malformed || version.length > 255
    ? { message: `The revision is malformed: "${version.slice(0, 80)}"` }
    : undefined;
}

/**
 * Returns the problem with the URL of a git repository, or `undefined`: an unknown scheme, no host, parts that look
 * like options, control characters.
 */
export function gitUrlProblem(url: string): ReferenceProblem | undefined {
  if (CONTROL.test(url) || /%0[ad]|%00/i.test(url)) return { message: "The git URL holds a control character" };
  if (/\s/.test(url)) return { message: "The git URL holds a space" };
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return malformedUrl(url);
  }
  if (!["http:", "https:", "ssh:", "file:"].includes(parsed.protocol)) {
    return {
      message: `The git URL has an unknown scheme: "${parsed.protocol}"`,
      hint: "Use https, http, ssh or file.",
    };
  }
  if (parsed.protocol !== "file:" && parsed.hostname === "")
    return { message: `The git URL names no host: "${publicUrl(url)}"` };
  if (
    decodeURIComponentSafe(parsed.hostname).startsWith("-") ||
    decodeURIComponentSafe(parsed.username).startsWith("-")
  ) {
    return { message: `The git URL looks like an option: "${publicUrl(url)}"` };
  }
  if (parsed.pathname.replaceAll("/", "") === "")
    return { message: `The git URL names no repository: "${publicUrl(url)}"` };
  return undefined;
}

// The URL is not quoted: where its parts cannot be told apart, any of them may be a password.
function malformedUrl(url: string): ReferenceProblem {
  const isScp = /@[^/:@]+:[^/]/.test(url);
  return {
    message: "The git URL is malformed",
    ...(isScp ? { hint: "An address like git@HOST:PATH is written ssh://git@HOST/PATH." } : {}),
  };
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
