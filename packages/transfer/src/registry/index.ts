export { endpointOf, type ImageLocation, openImage, type RegistryEndpoint } from "./image-request.ts";
export {
  ACCEPTED_MANIFESTS,
  type Descriptor,
  type Manifest,
  MAX_MANIFEST_BYTES,
  OCI_INDEX,
  OCI_MANIFEST,
  parseManifest,
  parseObject,
  runnable,
} from "./manifest.ts";
export {
  acceptablePlatforms,
  choosePlatform,
  formatPlatform,
  normalizePlatform,
  type Platform,
  runningPlatform,
} from "./platform.ts";
export {
  openRegistry,
  type RegistryClient,
  type RegistryOptions,
  type RegistryOwner,
  type RegistryRequest,
} from "./registry-client.ts";
