// Variables of git that belong to its configuration; the others name a repository, a terminal or a log.
const OF_CONFIGURATION =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)|EXEC_PATH|SSL_\w+)$/;
const ASKS_THE_USER = new Set(["SSH_ASKPASS", "SSH_ASKPASS_REQUIRE"]);

/**
 * The environment in which git reads the user's configuration and starts credential helpers: that of the user, because a helper
 * may need the session, the agent or the token in it, but for what leads git to a repository. Nobody is asked anything.
 */
export function helperEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(
    ([name]) => !ASKS_THE_USER.has(name) && (!name.startsWith("GIT_") || OF_CONFIGURATION.test(name)),
  );
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: "0",
    // An empty one hides `core.askPass` and `SSH_ASKPASS`, too.
    GIT_ASKPASS: "",
    GCM_INTERACTIVE: "never",
  };
}
