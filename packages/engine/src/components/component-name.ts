import type { ComponentRequest } from "@steps/cache";
import { publicUrl } from "@steps/model";

/** The name of a component in a trace. */
export interface ComponentName {
  readonly kind: ComponentRequest["kind"];
  readonly uri: string;
  readonly version: string;
}

/** The name of what is asked for, whatever stands in for it. */
export function componentName(request: ComponentRequest): ComponentName {
  switch (request.kind) {
    case "local":
      return { kind: "local", uri: request.dir, version: "" };
    case "git":
      return { kind: "git", uri: locationOf(request.url), version: request.version };
    case "zip":
      return { kind: "zip", uri: locationOf(request.url), version: request.sha256 ?? "" };
    case "oci": {
      const uri = `oci://${request.registry.toLowerCase()}/${request.repository}`;
      return { kind: "oci", uri, version: request.tag };
    }
  }
}

// As the cache does it: without credentials, the host in lower case, no slash at the end.
function locationOf(text: string): string {
  if (!URL.canParse(text)) return publicUrl(text);
  const url = new URL(text);
  url.username = "";
  url.password = "";
  url.hash = "";
  url.pathname = url.pathname.replace(/\/+$/, "") || "/";
  return publicUrl(url.href);
}
