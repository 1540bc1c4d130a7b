type Environment = Record<string, string | undefined>;

const BIN = /(?:^|\/)node_modules\/\.bin\/?$/;
const NODE_GYP = /(?:^|\/)node-gyp-bin\/?$/;

// npm hands on everything that it was told as npm_config_…; of these only the registry is likely to be what the user wants steps to have.
const SET_BY_MANAGER = /^(?:npm_(?!config_registry$).*|INIT_CWD|PNPM_(?:PACKAGE_NAME|SCRIPT_SRC_DIR))$/;

/**
 * Takes out of an environment what npm, npx or pnpm put into it to start this program, so that jobs find the programs that
 * their user has: the folders of packages before PATH, where a Node of ours may lie, and the variables that say who started
 * whom. An environment that none of them made is left as it is.
 */
export function leavePackageManager(env: Environment): void {
  if (env["npm_config_user_agent"] === undefined && env["npm_execpath"] === undefined) return;
  if (env["NODE"] !== undefined && env["NODE"] === env["npm_node_execpath"]) delete env["NODE"];
  for (const name of Object.keys(env)) if (SET_BY_MANAGER.test(name)) delete env[name];
  if (env["PATH"] !== undefined) env["PATH"] = userPath(env["PATH"].split(":")).join(":");
}

// Both put their folders first and one for node-gyp behind them; pnpm leaves that out where there is nothing to compile.
function userPath(entries: readonly string[]): readonly string[] {
  const lastOwn = entries.findLastIndex((entry) => NODE_GYP.test(entry));
  const firstOther = entries.findIndex((entry) => !BIN.test(entry));
  const end = lastOwn !== -1 ? lastOwn + 1 : firstOther === -1 ? entries.length : firstOther;
  return entries.filter((entry, i) => i >= end || !(BIN.test(entry) || NODE_GYP.test(entry)));
}
