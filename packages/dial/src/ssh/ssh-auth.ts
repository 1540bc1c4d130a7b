import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@steps/model";
import type { AnyAuthMethod, ParsedKey } from "ssh2";
import { DialError } from "../dial-error.ts";

export interface SshAuthOptions {
  readonly user: string;
  /** Default: those of ssh's usual names that are there. */
  readonly identityFiles?: readonly string[] | undefined;
  /** True to skip key files that do not exist, as ssh does with those of its configuration. */
  readonly skipsMissingFiles?: boolean | undefined;
  /** The passphrase of encrypted keys. */
  readonly passphrase?: string | undefined;
  /** The socket of an agent; `false` for none. Default: `SSH_AUTH_SOCK`. */
  readonly agent?: string | false | undefined;
}

/** The ways to say who we are, in order, and why others are not tried. */
export interface SshAuth {
  readonly methods: AnyAuthMethod[];
  readonly notes: readonly string[];
}

const MAX_KEY_BYTES = 256 * 1024;
const DEFAULT_NAMES = ["id_ed25519", "id_ecdsa", "id_rsa"];

/**
 * Keys that are named come first, then the agent's, then the usual files: servers count attempts, and an agent full of keys
 * would use them up. There is never a question for a password.
 */
export async function sshAuth(options: SshAuthOptions): Promise<SshAuth> {
  const { user: username, agent = process.env["SSH_AUTH_SOCK"] } = options;
  const isNamed = options.identityFiles !== undefined && options.skipsMissingFiles !== true;
  const files = options.identityFiles ?? DEFAULT_NAMES.map((name) => join(homedir(), ".ssh", name));
  const notes: string[] = [];
  const keys: AnyAuthMethod[] = [];
  for (const file of files) {
    const key = await loadKey(file, options.passphrase);
    if (typeof key === "object") keys.push({ type: "publickey", username, key });
    else if (key !== undefined) notes.push(key);
    else if (isNamed) throw new DialError("NOT_FOUND", `There is no key file '${file}'`);
  }
  const agents: AnyAuthMethod[] =
    agent === undefined || agent === false || agent === "" ? [] : [{ type: "agent", username, agent }];
  if (agents.length === 0 && keys.length === 0) throw nothingToTry(notes);
  // Asking for nothing first makes the server say what it takes, and is not counted.
  const none: AnyAuthMethod = { type: "none", username };
  return { methods: isNamed ? [none, ...keys, ...agents] : [none, ...agents, ...keys], notes };
}

function nothingToTry(notes: readonly string[]): DialError {
  const reason = notes.length === 0 ? "There is no agent and no key file to log in with" : notes.join("; ");
  return new DialError("DENIED", reason, { hint: "Start an agent and add a key to it (ssh-add), or name a key file." });
}

/** The key; or why it cannot be used; nothing if there is no such file. */
async function loadKey(file: string, passphrase: string | undefined): Promise<ParsedKey | string | undefined> {
  let text: Buffer;
  try {
    const info = await stat(file);
    if (!info.isFile() || info.size > MAX_KEY_BYTES) return `'${file}' is no key`;
    text = await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR"
      ? undefined
      : `The key '${file}' cannot be read: ${messageOf(cause)}`;
  }
  const { default: ssh2 } = await import("ssh2");
  const parsed: ParsedKey | Error | readonly ParsedKey[] = ssh2.utils.parseKey(text, passphrase);
  if (parsed instanceof Error)
    return refusedKey(file, { message: parsed.message, hasPassphrase: passphrase !== undefined });
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey) : (parsed as ParsedKey);
  return key.isPrivateKey() ? key : `'${file}' holds no private key`;
}

function refusedKey(file: string, { message, hasPassphrase }: { message: string; hasPassphrase: boolean }): string {
  if (hasPassphrase && /passphrase|decrypt/i.test(message)) return `The passphrase does not open the key '${file}'`;
  if (/encrypted/i.test(message)) return `The key '${file}' is encrypted: it needs an agent (ssh-add) or a passphrase`;
  return `The key '${file}' cannot be used: ${message}`;
}
