import type { Resource } from "@steps/model/event";
import type { ResourceJson } from "@steps/proto";

/** The components of a trace, each once. */
export interface ResourceIndex {
  readonly resources: readonly ResourceJson[];
  /** The place of a resource in the list, where it is put if it is new. */
  indexOf(resource: Resource): number;
}

export function createResourceIndex(): ResourceIndex {
  const resources: ResourceJson[] = [];
  const places = new Map<string, number>();
  const known = new WeakMap<Resource, number>();
  return {
    resources,
    indexOf(resource) {
      const seen = known.get(resource);
      if (seen !== undefined) return seen;
      const json = encodeResource(resource);
      const key = JSON.stringify(json);
      let index = places.get(key);
      if (index === undefined) {
        index = resources.push(json) - 1;
        places.set(key, index);
      }
      known.set(resource, index);
      return index;
    },
  };
}

function encodeResource(resource: Resource): ResourceJson {
  const digest: Record<string, string> = {};
  for (const key of Object.keys(resource.digest).toSorted()) digest[key] = String(resource.digest[key]);
  return {
    kind: resource.kind,
    ...(resource.uri === "" ? {} : { uri: resource.uri }),
    ...(resource.requestedVersion === "" ? {} : { requestedVersion: resource.requestedVersion }),
    ...(resource.resolvedVersion === "" ? {} : { resolvedVersion: resource.resolvedVersion }),
    ...(Object.keys(digest).length === 0 ? {} : { digest }),
    ...(resource.nativeTreeId ? { nativeTreeId: resource.nativeTreeId } : {}),
    ...(resource.isMutable ? { mutableRef: true } : {}),
    ...(resource.downloadLocation ? { downloadLocation: resource.downloadLocation } : {}),
  };
}

/** A resource of a trace as the model has it. */
export function decodeResource(json: ResourceJson): Resource {
  const kind = json.kind === undefined || json.kind === "kind_unspecified" ? "local" : json.kind;
  return {
    kind,
    uri: json.uri ?? "",
    requestedVersion: json.requestedVersion ?? "",
    resolvedVersion: json.resolvedVersion ?? "",
    digest: { ...json.digest },
    ...(json.nativeTreeId ? { nativeTreeId: json.nativeTreeId } : {}),
    isMutable: json.mutableRef === true,
    ...(json.downloadLocation ? { downloadLocation: json.downloadLocation } : {}),
  };
}
