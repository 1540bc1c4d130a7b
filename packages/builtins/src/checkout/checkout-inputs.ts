/** The inputs of `actions/checkout`, read and checked. */
export interface CheckoutInputs {
  readonly ref: string;
  readonly path: string;
  readonly token: string;
  /** Absent: not said. 0: all of it, with all branches and tags. */
  readonly fetchDepth: number | undefined;
  readonly fetchTags: boolean;
  /** Absent: not said. */
  readonly clean: boolean | undefined;
  readonly submodules: "none" | "own" | "recursive";
  readonly lfs: boolean;
  readonly sparse: readonly string[];
  readonly isCone: boolean;
  readonly persistCredentials: boolean;
  readonly setSafeDirectory: boolean;
}

/**
 * The inputs of the real action, and what becomes of them here. Absent ones and those that are empty are the same.
 *
 * - `done`: as documented there.
 * - `differs`: done, but not quite as there; see below.
 * - `none`: there is nothing to do for it, and nothing is said.
 * - `ignored`: said to be without effect when it is set.
 */
const INPUTS: Readonly<Record<string, "done" | "differs" | "none" | "ignored">> = {
  repository: "done",
  ref: "differs", // The job's own ref means the job's commit, also when the branch has moved on.
  token: "differs", // Absent: the job's own credentials, from CI_REPOSITORY_URL.
  path: "done",
  clean: "differs", // Cleans the workspace only for another ref with `true` written out; cleans `path` unless it is `false`.
  "fetch-depth": "differs", // Limits the history of the workspace only when it is written out; history that is there stays.
  "fetch-tags": "done",
  submodules: "done",
  lfs: "done", // With `git lfs`, if it is there.
  "sparse-checkout": "differs", // Applies to `path` only: nothing is taken away from the workspace.
  "sparse-checkout-cone-mode": "done",
  "persist-credentials": "differs", // Only when `true` is written and there is a token, never CI_JOB_TOKEN.
  "set-safe-directory": "differs", // Only where the tree belongs to somebody else.
  "show-progress": "none",
  "ssh-strict": "none",
  "ssh-user": "none",
  "github-server-url": "none", // Decides whether it is this project: isNativeCheckout().
  "allow-unsafe-pr-checkout": "none", // Its events do not exist here.
  filter: "ignored", // Objects that are left out would have to be fetched later, without credentials.
  reference: "ignored",
  "ssh-key": "ignored",
  "ssh-known-hosts": "ignored",
};

/** Reads the inputs and says which have no effect. Names are in any case. */
export function readCheckoutInputs(
  inputs: Readonly<Record<string, string>>,
  warn: (line: string) => void,
): CheckoutInputs {
  const given = new Map(Object.entries(inputs).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  for (const [name, value] of given) {
    const use = Object.hasOwn(INPUTS, name) ? INPUTS[name] : undefined;
    if (value === "") continue;
    if (use === undefined) warn(`Input "${name}" is not known to the checkout`);
    else if (use === "ignored") warn(`Input "${name}" has no effect in the checkout of the job's own project`);
  }
  const text = (name: string): string => given.get(name) ?? "";
  const is = (name: string): boolean => text(name).toLowerCase() === "true";
  const submodules = text("submodules").toLowerCase();
  return {
    ref: text("ref"),
    path: text("path"),
    token: text("token"),
    fetchDepth: text("fetch-depth") === "" ? undefined : depthOf(text("fetch-depth")),
    fetchTags: is("fetch-tags"),
    clean: text("clean") === "" ? undefined : is("clean"),
    submodules: submodules === "recursive" ? "recursive" : submodules === "true" ? "own" : "none",
    lfs: is("lfs"),
    sparse: text("sparse-checkout")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
    isCone: text("sparse-checkout-cone-mode") === "" || is("sparse-checkout-cone-mode"),
    persistCredentials: is("persist-credentials"),
    setSafeDirectory: text("set-safe-directory") === "" || is("set-safe-directory"),
  };
}

// As the action reads it: what is no number, or below zero, is 0.
function depthOf(text: string): number {
  const depth = Math.floor(Number(text));
  return Number.isSafeInteger(depth) && depth > 0 ? Math.min(depth, 2_147_483_647) : 0;
}

/**
 * Whether an `actions/checkout` with these inputs is one of the job's own project, which `runCheckout()` does: no `repository`, or
 * that of the variables `GITHUB_REPOSITORY` or `CI_PROJECT_PATH`; and no `github-server-url`, or that of the job's server.
 */
export function isNativeCheckout(
  inputs: Readonly<Record<string, string>>,
  facts: { readonly env: Readonly<Record<string, string | undefined>> },
): boolean {
  const given = new Map(Object.entries(inputs).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  const isOneOf = (value: string, names: readonly string[], normal: (text: string) => string): boolean =>
    value === "" || names.some((name) => normal(facts.env[name] ?? "") === normal(value));
  const lower = (text: string): string => text.toLowerCase();
  return (
    isOneOf(given.get("repository") ?? "", ["GITHUB_REPOSITORY", "CI_PROJECT_PATH"], lower) &&
    isOneOf(given.get("github-server-url") ?? "", ["GITHUB_SERVER_URL", "CI_SERVER_URL"], originOf)
  );
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
