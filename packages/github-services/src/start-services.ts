import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { checkOptionNames, type OptionNames, messageOf, withDefaults } from "@steps/model";
import { createArtifactRegistry, type StoredArtifact } from "./artifact/artifact-registry.ts";
import type { ArtifactParts } from "./artifact/artifact-protocol.ts";
import { createArtifactV3 } from "./artifact/artifact-v3.ts";
import { createArtifactV4 } from "./artifact/artifact-v4.ts";
import { createRuntimeToken } from "./auth/runtime-token.ts";
import { createUrlSigner } from "./auth/url-signer.ts";
import type { CacheService } from "./cache/cache-service.ts";
import { createCacheService } from "./cache/cache-service.ts";
import { cacheV1Routes } from "./cache/cache-v1.ts";
import { cacheV2Routes } from "./cache/cache-v2.ts";
import type { Closers } from "./closers.ts";
import { createClosers } from "./closers.ts";
import { ServicesError } from "./error.ts";
import type { Blobs } from "./blob/blob-routes.ts";
import { createBlobs } from "./blob/blob-routes.ts";
import { createDispatch } from "./dispatch.ts";
import { startLoopbackServer } from "./http/loopback-server.ts";
import type { OnNote, ServiceLimits } from "./options.ts";
import type { ServicesOptions } from "./services-options.ts";
import { DEFAULT_LIMITS } from "./options.ts";
import { createBudget } from "./store/budget.ts";
import type { CacheEntry } from "./store/cache-entry.ts";
import { ARCHIVE } from "./store/cache-entry.ts";
import { openCacheStore } from "./store/cache-store.ts";
import { openPrivateFolder } from "./store/files.ts";
import type { WorkFolder } from "./store/work-folder.ts";
import { openWorkFolder } from "./store/work-folder.ts";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_SCOPE = "default";
/** Beside the artifacts, so that what is finished gets there by a rename. */
const UPLOADS = ".steps-uploads";

/** An artifact of the job, as it lies there. */
export interface Artifact {
  readonly name: string;
  /** A folder (v3) or a file. */
  readonly path: string;
  readonly bytes: number;
}

/** The services of one job, while it runs. */
export interface Services extends AsyncDisposable {
  /** `ACTIONS_RUNTIME_TOKEN` (a secret), `_RUNTIME_URL`, `_CACHE_URL`, `_RESULTS_URL` and `_CACHE_SERVICE_V2`, for actions. */
  readonly env: Readonly<Record<string, string>>;
  /** Artifacts that are finished, also after `close()`. */
  readonly artifacts: () => readonly Artifact[];
  /** Ends all connections, gives up unfinished uploads and removes what they left. Can be called again. */
  readonly close: () => Promise<void>;
}

const OPTION_NAMES: OptionNames<ServicesOptions> = {
  cacheDir: true,
  artifactDir: true,
  artifacts: true,
  runId: true,
  jobId: true,
  scope: true,
  host: true,
  limits: true,
  onNote: true,
};

/**
 * Starts the cache service (v1 and v2) and the artifact service (v3 and v4) of GitHub Actions for one job. Throws
 * `ServicesError`.
 */
export async function startServices(options: ServicesOptions): Promise<Services> {
  checkOptionNames("startServices()", options, OPTION_NAMES);
  const closers = createClosers();
  try {
    return await open(options, closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function open(options: ServicesOptions, closers: Closers): Promise<Services> {
  const limits: ServiceLimits = withDefaults(DEFAULT_LIMITS, options.limits);
  const onNote = options.onNote ?? ((): void => undefined);
  let prune = async (): Promise<void> => undefined;
  const onBeat = (): void => {
    prune().catch((error: unknown) => onNote("service-failed", `Cannot give up an upload: ${messageOf(error)}`));
  };
  const cacheWork = await opening(options.cacheDir, async () => {
    await openPrivateFolder(options.cacheDir);
    return await openWorkFolder(join(options.cacheDir, "work"), onBeat);
  });
  closers.add(cacheWork.close);
  const artifactWork = await opening(options.artifactDir, async () => {
    await mkdir(options.artifactDir, { recursive: true });
    return await openWorkFolder(join(options.artifactDir, UPLOADS));
  });
  closers.add(artifactWork.close);
  const cache = await openCache(options, { limits, onNote, work: cacheWork });
  closers.add(cache.close);
  const secret = randomBytes(32);
  const { runId, jobId } = options;
  const token = createRuntimeToken(secret, { runId, jobId, nowMs: Date.now() });
  const registry = options.artifacts ?? createArtifactRegistry(limits.maxArtifacts);
  const own: StoredArtifact[] = [];
  const put = (artifact: StoredArtifact): void => {
    own.push(artifact);
    registry.put(artifact);
  };
  const budget = createBudget(limits.maxArtifactBytes, "Artifacts of a job");
  const artifactParts = {
    dir: options.artifactDir,
    work: artifactWork,
    budget,
    registry: { ...registry, put },
    limits,
    runId,
    jobId,
  };

  const server = await startLoopbackServer(
    { host: options.host ?? DEFAULT_HOST, limits },
    async (request, response) => await dispatch(request, response),
  );
  const { baseUrl } = server;
  const blobs = createBlobs(createUrlSigner(secret, { baseUrl, lifetimeMs: limits.signedUrlMs, now: Date.now }));
  const protocols = artifactProtocols(artifactParts, { blobs, baseUrl });
  const routes = [...cacheRoutes(cache, blobs), ...protocols.flatMap((protocol) => protocol.routes)];
  const dispatch = createDispatch({ token, routes, blobs, limits, onNote });
  prune = async () => void (await Promise.all([cache, ...protocols].map(async (one) => await one.prune())));
  for (const { close } of protocols) closers.add(close);
  // Last in, first out: no handler may run while what it works with is taken away.
  closers.add(server.close);
  return {
    env: {
      ACTIONS_RUNTIME_TOKEN: token,
      ACTIONS_RUNTIME_URL: baseUrl,
      ACTIONS_CACHE_URL: baseUrl,
      ACTIONS_RESULTS_URL: baseUrl,
      ACTIONS_CACHE_SERVICE_V2: "true",
    },
    artifacts: () => {
      const kept = new Set(registry.all());
      return own.filter((artifact) => kept.has(artifact)).map(({ name, path, bytes }) => ({ name, path, bytes }));
    },
    close: closers.close,
    [Symbol.asyncDispose]: closers.close,
  };
}

async function openCache(
  options: ServicesOptions,
  parts: { readonly limits: ServiceLimits; readonly onNote: OnNote; readonly work: WorkFolder },
): Promise<CacheService> {
  const { limits, onNote, work } = parts;
  const scope = options.scope ?? DEFAULT_SCOPE;
  const maxBytes = limits.maxCacheBytes;
  const store = await openCacheStore({ dir: options.cacheDir, scope, work, maxBytes, onNote });
  return createCacheService({ store, work, scope, limits, budget: createBudget(maxBytes, "Caches that are saved") });
}

function cacheRoutes(cache: CacheService, blobs: Blobs): ReturnType<typeof cacheV1Routes> {
  const toEntry = (entry: CacheEntry): string =>
    blobs.linkToDownload({
      path: join(entry.dir, ARCHIVE),
      size: entry.size,
      answer: {
        type: "application/octet-stream",
        etag: `${entry.createdAtMs}-${entry.size}`,
        modifiedAtMs: entry.createdAtMs,
      },
    });
  return [...cacheV1Routes(cache, toEntry), ...cacheV2Routes(cache, { toUpload: blobs.linkToUpload, toEntry })];
}

function artifactProtocols(
  parts: ArtifactParts,
  of: { readonly blobs: Blobs; readonly baseUrl: string },
): readonly ReturnType<typeof createArtifactV4>[] {
  return [createArtifactV3(parts, of.baseUrl), createArtifactV4(parts, of.blobs)];
}

async function opening(dir: string, open: () => Promise<WorkFolder>): Promise<WorkFolder> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof ServicesError) throw error;
    throw new ServicesError("SERVICES_FOLDER", `Cannot use folder "${dir}": ${messageOf(error)}`, { cause: error });
  }
}
