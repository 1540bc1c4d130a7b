import { appendFile, mkdir, open, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "@steps/model";
import type { ServerHostKeyAlgorithm } from "ssh2";
import { DialError } from "../dial-error.ts";
import {
  checkHostKey,
  fingerprintOf,
  type HostKeyVerdict,
  keyTypeOf,
  knownHostName,
  type KnownHost,
  knownKeyTypes,
  parseKnownHosts,
} from "./known-hosts.ts";
import { shellQuote } from "./shell-quote.ts";
import type { StrictHostKey } from "./strict-host-key.ts";

/** The keys and the check by which a connection verifies its server. */
export interface HostKeys {
  /** The ones that can be checked first; without SHA-1. */
  readonly algorithms: ServerHostKeyAlgorithm[];
  /** The reason to turn away from a server with this key. */
  verify(key: Buffer): DialError | undefined;
  /** Writes down a new host's key, once the server has proved that it has it. */
  record(): Promise<void>;
}

export interface HostKeyOptions {
  readonly host: string;
  readonly port: number;
  /** The name to look the host up by, whatever its port; ssh's `HostKeyAlias`. */
  readonly hostKeyAlias?: string | undefined;
  readonly strictHostKey: StrictHostKey;
  /** Default: ssh's own. Those that are not there are passed over; new hosts go to the first. */
  readonly knownHostsFiles?: readonly string[] | undefined;
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const ALGORITHMS: readonly { readonly keyType: string; readonly names: readonly ServerHostKeyAlgorithm[] }[] = [
  { keyType: "ssh-ed25519", names: ["ssh-ed25519"] },
  { keyType: "ecdsa-sha2-nistp256", names: ["ecdsa-sha2-nistp256"] },
  { keyType: "ecdsa-sha2-nistp384", names: ["ecdsa-sha2-nistp384"] },
  { keyType: "ecdsa-sha2-nistp521", names: ["ecdsa-sha2-nistp521"] },
  { keyType: "ssh-rsa", names: ["rsa-sha2-512", "rsa-sha2-256"] },
];

/** Reads what is known of hosts. Rejects with a {@link DialError} if a file is there and cannot be read. */
export async function loadHostKeys(options: HostKeyOptions): Promise<HostKeys> {
  const { host, port, hostKeyAlias, strictHostKey } = options;
  const files = options.knownHostsFiles ?? defaultFiles();
  const known: KnownHost[] = [];
  for (const file of files) known.push(...parseKnownHosts(await readKnownHosts(file), file));
  // A host on a port of its own is also looked up without, as ssh does.
  const name = hostKeyAlias?.toLowerCase() ?? knownHostName(host, port);
  const plainName = hostKeyAlias?.toLowerCase() ?? knownHostName(host, 22);
  const types = new Set([...knownKeyTypes(known, name), ...knownKeyTypes(known, plainName)]);
  const sorted = ALGORITHMS.toSorted((a, b) => Number(types.has(b.keyType)) - Number(types.has(a.keyType)));
  let accepted: Buffer | undefined;
  let isNew = false;
  return {
    algorithms: sorted.flatMap((algorithm) => [...algorithm.names]),
    verify(key) {
      // The server shows its key again whenever keys are exchanged anew.
      if (accepted?.equals(key) === true) return undefined;
      const verdict = check(known, { name, plainName }, key);
      isNew = verdict.status === "unknown" && strictHostKey === "accept-new" && accepted === undefined;
      if (verdict.status !== "known" && !isNew)
        return refusal(verdict, { host, port, name, key, file: files[0] ?? "known_hosts" });
      accepted = Buffer.from(key);
      return undefined;
    },
    async record() {
      if (!isNew || accepted === undefined) return;
      isNew = false;
      await append(files[0], `${name} ${keyTypeOf(accepted)} ${accepted.toString("base64")}\n`);
    },
  };
}

function defaultFiles(): string[] {
  const own = join(homedir(), ".ssh");
  return [join(own, "known_hosts"), join(own, "known_hosts2"), "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"];
}

async function readKnownHosts(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new DialError("DENIED", `'${file}' is too large for a list of known hosts`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof DialError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new DialError("DENIED", `Cannot read the known hosts in '${file}': ${messageOf(cause)}`, { cause });
  }
}

/** Without the port only the key itself counts: another machine may have another key. */
function check(
  known: readonly KnownHost[],
  { name, plainName }: { readonly name: string; readonly plainName: string },
  key: Buffer,
): HostKeyVerdict {
  const verdict = checkHostKey(known, name, key);
  if (verdict.status !== "unknown" || plainName === name) return verdict;
  const plain = checkHostKey(known, plainName, key);
  return plain.status === "known" || plain.status === "revoked" ? plain : verdict;
}

interface Shown {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly key: Buffer;
  /** The file in which a line would be added or removed. */
  readonly file: string;
}

function refusal(verdict: HostKeyVerdict, { host, port, name, key, file }: Shown): DialError {
  const shown = `${keyTypeOf(key) ?? "unknown"} key ${fingerprintOf(key)}`;
  const scan = `ssh-keyscan${port === 22 ? "" : ` -p ${port}`} ${host} >> ${file}`;
  const denied = (message: string, hint: string): DialError => new DialError("DENIED", message, { hint });
  switch (verdict.status) {
    case "changed":
      return denied(
        `THE HOST KEY OF '${host}' HAS CHANGED: it shows the ${shown}, and '${verdict.place}' has another; somebody may be listening in`,
        `If the host was installed anew, remove its old key: ssh-keygen -R ${shellQuote(name)} -f ${verdict.place.replace(/:\d+$/, "")}.`,
      );
    case "revoked":
      return denied(
        `The host '${host}' shows the ${shown}, which is revoked in '${verdict.place}'`,
        "Do not use this host before its owner says that all is well.",
      );
    case "authority":
      return denied(
        `The host '${host}' is known by a certificate authority, which is not supported (${verdict.place})`,
        `Add the host's own key (${shown}): ${scan}.`,
      );
    case "known":
    case "unknown":
      return denied(
        `The host '${host}' is not known: it shows the ${shown}`,
        `Compare the fingerprint with the host's, then add it: ${scan}; or accept new hosts (accept-new).`,
      );
  }
}

/** Without the line a later change could not be seen; so a host that cannot be written down is not accepted. */
async function append(file: string | undefined, line: string): Promise<void> {
  if (file === undefined) throw new DialError("DENIED", "There is no file to add a new host to");
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const endsLine = await hasFullLines(file);
    await appendFile(file, endsLine ? line : `\n${line}`, { mode: 0o600 });
  } catch (cause) {
    throw new DialError("DENIED", `Cannot add the new host to '${file}': ${messageOf(cause)}`, { cause });
  }
}

async function hasFullLines(file: string): Promise<boolean> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    if (size === 0) return true;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 10;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw cause;
  }
}
