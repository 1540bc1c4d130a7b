import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The file beside the launcher with certificates that are trusted besides those that Node brings along. */
export const CERTIFICATES_NAME = "ca-certs.pem";

/** The channel on which Node's `fetch` announces a connection before it is made. */
const CONNECT_CHANNEL = "undici:client:beforeConnect";

/**
 * Trusts the certificates beside the launcher. They are read before the first connection is made, since reading some
 * hundred of them takes longer than most jobs need to start.
 */
export function trustCertificates(launcher: string): void {
  const path = join(dirname(launcher), CERTIFICATES_NAME);
  if (!existsSync(path)) return;
  const trust = (): void => {
    unsubscribe(CONNECT_CHANNEL, trust);
    // Loaded here, since it takes as long as all else that a short command loads.
    const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule("node:tls");
    setDefaultCACertificates([...getCACertificates("default"), ...certificatesIn(readFileSync(path, "utf8"))]);
  };
  subscribe(CONNECT_CHANNEL, trust);
}

/** The certificates of a PEM file, without what else is in it. */
export function certificatesIn(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
}
