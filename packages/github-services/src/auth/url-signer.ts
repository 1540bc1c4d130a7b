import { createHmac } from "node:crypto";
import { isSameText } from "./runtime-token.ts";

/** The action that a signed URL permits its bearer on one object until it expires. */
type SignedAction = "upload" | "download";

export interface UrlSigner {
  /** `<base>blobs/<action>/<id>?se=<ms since 1970>&sig=<HMAC>`. Three segments, because Azure's client wants them. */
  sign: (action: SignedAction, id: string) => string;
  /** The id, where the signature is right and has not expired; other query parameters are the client's own. */
  verify: (url: URL) => { readonly action: SignedAction; readonly id: string } | undefined;
}

/** Signs with a secret that lives as long as the service, so that no URL of an earlier job works. */
export function createUrlSigner(
  secret: Buffer,
  options: { readonly baseUrl: string; readonly lifetimeMs: number; readonly now: () => number },
): UrlSigner {
  const signatureOf = (action: string, id: string, expiry: string): string =>
    createHmac("sha256", secret).update(`${action}\n${id}\n${expiry}`).digest("base64url");
  return {
    sign: (action, id) => {
      const expiry = String(options.now() + options.lifetimeMs);
      return `${options.baseUrl}blobs/${action}/${id}?se=${expiry}&sig=${signatureOf(action, id, expiry)}`;
    },
    verify: (url) => {
      const [, action = "", id = ""] = /^\/blobs\/(upload|download)\/([\w-]{1,64})$/.exec(url.pathname) ?? [];
      const expiry = url.searchParams.get("se") ?? "";
      const isGenuine = isSameText(url.searchParams.get("sig") ?? "", signatureOf(action, id, expiry));
      if (!isGenuine || id === "" || !(Number(expiry) > options.now())) return undefined;
      return { action: action as SignedAction, id };
    },
  };
}
