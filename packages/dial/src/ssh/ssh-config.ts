import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@steps/model";
import { codeOf } from "../connect-error.ts";
import { DialError } from "../dial-error.ts";

/** The settings that a user's configuration of ssh has for a host. */
export interface SshConfig {
  readonly address: string;
  readonly user: string;
  readonly port: number;
  readonly identityFiles: readonly string[];
  readonly knownHostsFiles: readonly string[];
  readonly hostKeyAlias: string | undefined;
  /** `false` for none; nothing if it is the usual one. */
  readonly agent: string | false | undefined;
}

const TIMEOUT_MS = 10_000;

/**
 * Asks `ssh -G`, which reads `~/.ssh/config` and `/etc/ssh/ssh_config` as ssh does. Rejects with `NOT_FOUND` if there is no such
 * program, and with `ADDRESS_INVALID` if the host is reached by way of another program or host, which only ssh itself can do.
 */
export async function readSshConfig(
  host: string,
  given: { readonly user?: string | undefined; readonly port?: number | undefined },
): Promise<SshConfig> {
  const user = given.user === undefined ? [] : ["-l", given.user];
  const port = given.port === undefined ? [] : ["-p", String(given.port)];
  try {
    const { stdout } = await promisify(execFile)("ssh", ["-G", ...user, ...port, "--", host], { timeout: TIMEOUT_MS });
    return parseSshConfig(stdout, host);
  } catch (cause) {
    if (cause instanceof DialError) throw cause;
    if (codeOf(cause) === "ENOENT")
      throw new DialError("NOT_FOUND", "The program 'ssh' is needed to read its configuration", { cause });
    throw new DialError("ADDRESS_INVALID", `Cannot read the configuration of ssh: ${messageOf(cause)}`, { cause });
  }
}

/** Reads what `ssh -G` prints: lower-case names, a blank, the value. */
export function parseSshConfig(text: string, host: string): SshConfig {
  const values = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const blank = line.indexOf(" ");
    if (blank > 0)
      values.set(line.slice(0, blank), [...(values.get(line.slice(0, blank)) ?? []), line.slice(blank + 1)]);
  }
  const first = (name: string): string | undefined => values.get(name)?.[0];
  for (const name of ["proxycommand", "proxyjump"]) {
    if ((first(name) ?? "none") === "none") continue;
    throw new DialError("ADDRESS_INVALID", `The configuration of ssh reaches '${host}' by way of '${first(name)}'`, {
      hint: "Dial by the command instead: ssh HOST step-runner proxy.",
    });
  }
  const files = ["userknownhostsfile", "globalknownhostsfile"].flatMap((name) => first(name)?.split(" ") ?? []);
  return {
    address: first("hostname") ?? host,
    user: first("user") ?? "",
    port: Number(first("port") ?? 22),
    identityFiles: (values.get("identityfile") ?? []).map(expandHome),
    knownHostsFiles: files.filter((file) => file !== "" && file !== "none").map(expandHome),
    hostKeyAlias: first("hostkeyalias"),
    agent: agentOf(first("identityagent")),
  };
}

function agentOf(value: string | undefined): string | false | undefined {
  if (value === "none") return false;
  if (value === undefined || value === "SSH_AUTH_SOCK") return undefined;
  return value.startsWith("$") ? process.env[value.slice(1).replace(/^\{(.*)\}$/, "$1")] : expandHome(value);
}

function expandHome(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}
