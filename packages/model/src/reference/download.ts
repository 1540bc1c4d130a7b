import type { ComponentKind } from "./kind.ts";
import { componentLocation } from "./paths.ts";

/** Something at a URL that is known by the digest of its bytes. */
export interface Download<Kind extends "zip" | "file"> {
  readonly kind: Kind;
  /** `http:`, `https:` or `file:` URL, or an absolute path. */
  readonly url: string;
  /** Expected SHA-256 of the bytes, 64 hex digits. */
  readonly sha256?: string;
}

/** The name of such a file in its tree, whatever it is called where it comes from. */
export const CONTENT_FILE = "content";

/** One file at a URL, such as a configuration that another includes. Steps do not name it. */
export type FileRequest = Download<"file">;

/** The record of a kind of component that is known by the digest of its bytes. */
export function downloadKind<Kind extends "zip" | "file">(kind: Kind): ComponentKind<Download<Kind>> {
  return {
    name: ({ url, sha256 = "" }) => ({ uri: componentLocation(url), written: url, version: sha256 }),
    isVersioned: false,
    mark: (version) => `@${version}`,
    recordedVersions({ digest: { sha256 } }) {
      return sha256 === undefined ? [""] : ["", sha256];
    },
    requestOf: ({ uri }) => ({ kind, url: uri }),
    standingIn: (request, { sha256 = request.sha256 }) => ({ ...request, sha256 }),
    lock: {
      // A file on this machine is what it is.
      covers: (uri) => /^https?:/i.test(uri),
      resolved: ({ digest: { sha256 = "" } }) => `sha256:${sha256}`,
      pattern: /^sha256:[0-9a-f]{64}$/,
      hasOneTree: true,
      exactly(request, resolved) {
        const sha256 = resolved.slice("sha256:".length);
        if (request.sha256 !== undefined && request.sha256 !== sha256) {
          return { message: `its digest is to be ${request.sha256}, not ${sha256}` };
        }
        return { ...request, sha256 };
      },
    },
  };
}
