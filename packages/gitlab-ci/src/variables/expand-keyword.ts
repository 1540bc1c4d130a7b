/** Who fills variables into the value of a keyword, and what becomes of a name that is no variable. */
export interface KeywordExpansion {
  /** GitLab when it makes the pipeline, the runner when it takes the job, the shell, or nobody. */
  readonly by: "gitlab" | "runner" | "shell" | "nobody";
  /** Whether a name that is no variable is left as it stands; otherwise it becomes empty. */
  readonly keepsUnknown: boolean;
}

const KEPT: KeywordExpansion = { by: "gitlab", keepsUnknown: true };
const BLANK: KeywordExpansion = { by: "gitlab", keepsUnknown: false };
const RUNNER: KeywordExpansion = { by: "runner", keepsUnknown: false };
const SHELL: KeywordExpansion = { by: "shell", keepsUnknown: false };
const NOBODY: KeywordExpansion = { by: "nobody", keepsUnknown: true };

/** The keywords whose values may hold variables, `a:b` for `b` within `a`. A keyword that is not here takes none. */
export const KEYWORD_EXPANSIONS: Readonly<Record<string, KeywordExpansion>> = {
  after_script: SHELL,
  "artifacts:exclude": RUNNER,
  "artifacts:expire_in": RUNNER,
  "artifacts:name": RUNNER,
  "artifacts:paths": RUNNER,
  before_script: SHELL,
  "cache:fallback_keys": RUNNER,
  "cache:key": RUNNER,
  "cache:paths": RUNNER,
  "cache:policy": RUNNER,
  "environment:auto_stop_in": BLANK,
  "environment:name": BLANK,
  "environment:url": BLANK,
  "except:variables": NOBODY,
  "id_tokens:aud": RUNNER,
  image: RUNNER,
  "only:variables": NOBODY,
  release: RUNNER,
  resource_group: BLANK,
  "rules:changes": KEPT,
  "rules:changes:compare_to": KEPT,
  "rules:exists": KEPT,
  "rules:exists:project": KEPT,
  "rules:exists:ref": KEPT,
  "rules:if": NOBODY,
  script: SHELL,
  services: RUNNER,
  "services:alias": NOBODY,
  tags: KEPT,
  "trigger:branch": BLANK,
  "trigger:project": BLANK,
  variables: RUNNER,
  "workflow:name": BLANK,
};

const GITLAB = /\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|%([A-Za-z_][A-Za-z0-9_]*)%/g;

// The forms that Go's os.Expand takes: a doubled dollar, one character that only a shell knows, a name, and braces.
const RUNNERS = /\$(?:([*#$@!?\-0-9])|([A-Za-z_][A-Za-z0-9_]*)|\{([^{}]*)\})/g;

/**
 * Fills variables into the value of a keyword, once: what stands in their values is not filled in again. A value of a keyword
 * that takes no variables, or that a shell reads, is left as it is.
 *
 * @param keyword - A key of `KEYWORD_EXPANSIONS`.
 * @param valueOf - Gives the expanded value of a variable; `undefined` when there is none of that name.
 */
export function expandKeyword(keyword: string, text: string, valueOf: (name: string) => string | undefined): string {
  const { by, keepsUnknown } = KEYWORD_EXPANSIONS[keyword] ?? NOBODY;
  if (by === "gitlab") {
    return text.replaceAll(GITLAB, (source, ...names: unknown[]) => {
      return valueOf((names[0] ?? names[1] ?? names[2]) as string) ?? (keepsUnknown ? source : "");
    });
  }
  if (by !== "runner") return text;
  return text.replaceAll(RUNNERS, (_, special: string | undefined, ...names: unknown[]) => {
    if (special !== undefined) return special === "$" ? "$" : "";
    return valueOf((names[0] ?? names[1]) as string) ?? "";
  });
}
