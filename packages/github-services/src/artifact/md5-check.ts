import { createHash } from "node:crypto";
import { badRequest } from "../http/http-error.ts";
import type { PartCheck } from "../store/range-upload.ts";

/** Checks a part against the digest that its sender put in a header (MD5 in Base64); without one, nothing. */
export function md5Check(header: string | string[] | undefined): PartCheck | undefined {
  if (typeof header !== "string") return undefined;
  // MD5 is what the protocol has; it finds accidents, and nobody who attacks the job needs it to hold.
  const hash = createHash("md5");
  return {
    onChunk: (chunk) => void hash.update(chunk),
    verify: () => {
      if (hash.digest("base64") !== header) throw badRequest("The part is not what its sender says");
    },
  };
}
