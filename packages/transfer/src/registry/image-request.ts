import { formatImageName, type ImageName, imageNameProblem } from "@steps/model/image";
import { isReferenceProblem, parseReference } from "@steps/model/reference";
import { TransferError } from "../error.ts";
import { openRemote, type Remote, replacePrefix } from "../http/remote.ts";

/** An image, and the registry that is really asked for it. */
export interface ImageLocation {
  /** `oci://REGISTRY/REPOSITORY`: the name of the component, whatever mirror stands in. */
  readonly uri: string;
  /** The image as messages name it. */
  readonly shown: string;
  readonly tag: string;
  readonly endpoint: RegistryEndpoint;
  /** The URL of the mirror that is asked instead; undefined if there is none. */
  readonly mirror: string | undefined;
}

/** A repository on a server that speaks the distribution protocol. */
export interface RegistryEndpoint {
  /** The name that credentials are kept under. */
  readonly registry: string;
  readonly repository: string;
  /** Scheme and host; `undefined` where it is a matter of trying, which only this machine's own registries are. */
  readonly origin: string | undefined;
  /** The host that is asked, with its port. */
  readonly host: string;
  /** Credentials that stood in a mirror's URL. */
  readonly authorization: string | undefined;
}

/** Reads what is asked for. @throws {TransferError} REFERENCE_INVALID */
export function openImage(request: ImageName, mirrors: Readonly<Record<string, string>>): ImageLocation {
  const { registry, repository, tag } = request;
  const problem = imageNameProblem({ registry, repository, tag });
  if (problem !== undefined) {
    throw new TransferError("REFERENCE_INVALID", `Cannot use image: ${problem.message}`, { hint: problem.hint });
  }
  const uri = `oci://${registry.toLowerCase()}/${repository}`;
  const mirror = replacePrefix(uri, mirrors);
  const endpoint = mirror === undefined ? endpointOf(registry.toLowerCase(), repository) : mirrorEndpoint(mirror);
  const asked = `${endpoint.origin ?? endpoint.host}/${endpoint.repository}`;
  const shown = formatImageName({ registry: registry.toLowerCase(), repository, tag });
  return { uri, shown, tag, endpoint, mirror: mirror === undefined ? undefined : asked };
}

/** The server of a registry. Docker's own has another name than its images. */
export function endpointOf(registry: string, repository: string): RegistryEndpoint {
  const isHub = ["docker.io", "index.docker.io", "registry-1.docker.io"].includes(registry);
  if (isHub) {
    const name = repository.includes("/") ? repository : `library/${repository}`;
    const host = "registry-1.docker.io";
    return { registry: "docker.io", repository: name, origin: `https://${host}`, host, authorization: undefined };
  }
  const origin = isLoopback(registry) ? undefined : `https://${registry}`;
  return { registry, repository, origin, host: registry, authorization: undefined };
}

// A mirror is another registry (`oci://…`), or a URL, which may say `http:` where that is meant.
function mirrorEndpoint(mirror: string): RegistryEndpoint {
  if (/^oci:/i.test(mirror)) {
    const parsed = parseReference(mirror);
    if (!isReferenceProblem(parsed) && parsed.kind === "oci") return endpointOf(parsed.registry, parsed.repository);
    throw new TransferError("REFERENCE_INVALID", "Cannot use mirror: it names no registry");
  }
  const remote: Remote = openRemote(mirror, {});
  const url = new URL(remote.url);
  const repository = url.pathname.replace(/^\/+(?:v2\/)?|\/+$/g, "");
  const name = { registry: url.host, repository, tag: "latest" };
  if ((remote.scheme !== "https" && remote.scheme !== "http") || imageNameProblem(name) !== undefined) {
    throw new TransferError("REFERENCE_INVALID", `Cannot use mirror "${remote.location}": it names no repository`);
  }
  return { registry: url.host, repository, origin: url.origin, host: url.host, authorization: remote.authorization };
}

/** Whether a host, with or without a port, is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/:\d+$/, "");
  return name === "localhost" || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name);
}
