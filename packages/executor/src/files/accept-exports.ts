import type { RuntimeString } from "@steps/model";
import { type EnvironmentRecord, matchesVariable } from "@steps/model/environment";
import type { Level } from "../run/level.ts";
import { type Run, tell } from "../run/run.ts";

/**
 * Variables that make unsuspecting programs run code, or read settings that name code. Proxies are not among them,
 * nor are the variables of the one tool that a step is there for, such as JAVA_HOME, GOFLAGS, CC or MAVEN_OPTS.
 */
const REFUSED: readonly string[] = [
  // The dynamic loader and the C library, of every program.
  "LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*", "HOSTALIASES", "RESOLV_HOST_CONF",
  // Shells, and with them every script.
  "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "BASH_XTRACEFD", "IFS", "PS4", "PROMPT_COMMAND", "CDPATH",
  "GLOBIGNORE", "FPATH", "ZDOTDIR", "SHELL",
  // The folders in which every program looks for its settings.
  "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
  // Interpreters.
  "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NPM_CONFIG_*", "npm_config_*",
  "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
  "PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC",
  "PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "PSModulePath",
  // Programs that other programs start: git, ssh, make, sudo, editors and pagers.
  "GIT_SSH", "GIT_SSH_COMMAND", "GIT_CONFIG*", "GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
  "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_TEMPLATE_DIR", "SSH_ASKPASS", "SUDO_ASKPASS", "MAKEFILES",
  "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER",
  // Our own.
  "STEP_RUNNER_*",
]; // oxfmt-ignore

/**
 * Returns the exports of a step that reach the steps after it. A step of the user's own exports everything. A step that was fetched
 * exports no variable that makes other programs run code, and can only put folders in front of PATH. An export that is left out is
 * noted, and the step does not fail for it. Names that the user allows are taken as they are (ADR 25).
 */
export function acceptExports(run: Run, level: Level, exports: EnvironmentRecord): EnvironmentRecord {
  if (!level.isFetched) return exports;
  const allowed = run.allowedExports ?? [];
  const accepted: Record<string, RuntimeString> = Object.create(null) as Record<string, RuntimeString>;
  for (const [name, value] of Object.entries(exports)) {
    if (matchesVariable(name, allowed)) accepted[name] = value;
    else if (name === "PATH") accepted[name] = longerPath(run, level, value);
    else if (matchesVariable(name, REFUSED))
      note(run, level, name, "it is not taken over from a step that was fetched");
    else accepted[name] = value;
  }
  return accepted;
}

// The PATH that the step was started with may hold folders of its own: only those that all steps share stay behind its export.
function longerPath(run: Run, level: Level, value: RuntimeString): RuntimeString {
  const known = level.environment.shared("PATH") ?? "";
  if (typeof value !== "string" || typeof known !== "string" || known === "") return value;
  if (value === known || value.endsWith(`:${known}`)) return value;
  const kept = new Set(known.split(":"));
  const own = level.environment.flatten()["PATH"];
  const before = typeof own === "string" && value.endsWith(`:${own}`) ? value.slice(0, -own.length - 1) : undefined;
  const added = (before ?? value).split(":").filter((folder) => !kept.has(folder));
  if (before === undefined)
    note(run, level, "PATH", "a step that was fetched puts folders in front of it, and the rest stays");
  return [...added, known].join(":");
}

function note(run: Run, { path }: Level, name: string, why: string): void {
  const message = `export "${name}": ${why}; --allow-export ${name} takes it as it is`;
  tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "export-refused", message });
}
