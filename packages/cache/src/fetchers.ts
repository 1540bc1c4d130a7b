import type { ComponentRequest } from "@steps/model/kinds";
import type { Fetcher } from "./fetcher.ts";

type Fetchers = { readonly [Request in ComponentRequest as Request["kind"]]: () => Promise<Fetcher<Request>> };

/** Each kind is loaded when it is first used: a hit in the index pays for no archive reader and no git. */
const FETCHERS: Fetchers = {
  git: async () => (await import("./git/git-component.ts")).gitFetcher,
  zip: async () => (await import("./download/fetchers.ts")).zipFetcher,
  file: async () => (await import("./download/fetchers.ts")).fileFetcher,
  oci: async () => (await import("./oci/oci-component.ts")).ociFetcher,
  local: async () => (await import("./local/local-component.ts")).localFetcher,
};

/** The fetcher of a request's, or of an entry's, kind. */
export async function fetcherOf<Request extends ComponentRequest>({
  kind,
}: {
  readonly kind: Request["kind"];
}): Promise<Fetcher<Request>> {
  return (await FETCHERS[kind]()) as never;
}
