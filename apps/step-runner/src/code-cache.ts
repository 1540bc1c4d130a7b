/** Where Node may keep the compiled form of this program: beside the user's components. */
export function codeCacheDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const base = env["XDG_CACHE_HOME"]?.startsWith("/") ? env["XDG_CACHE_HOME"] : `${env["HOME"] ?? ""}/.cache`;
  return `${base}/step-runner/v1/code`;
}
