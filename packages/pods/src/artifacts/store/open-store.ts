import { isStepsError, messageOf } from "@steps/model";
import type { ArtifactStore } from "./artifact-store.ts";
import { fileStore } from "./file-store.ts";
import { readS3Settings } from "./s3-settings.ts";
import { checkS3, s3Store } from "./s3-store.ts";

/** The store of a pod's artifacts. */
export interface StoreOptions {
  /** `s3://…`. Absent: the folder. */
  readonly address: string | undefined;
  readonly folder: string;
  readonly maxBytes: number;
  /** Told why the store does not answer when it is opened; it may do so later. */
  readonly onSilent: (reason: string) => void;
}

/** Opens the store of a pod's artifacts. @throws {ArtifactStoreError} ARTIFACT_STORE_INVALID */
export async function openStore({ address, folder, maxBytes, onSilent }: StoreOptions): Promise<ArtifactStore> {
  if (address === undefined) return fileStore(folder);
  const settings = readS3Settings(address, process.env);
  try {
    await checkS3(settings);
  } catch (error) {
    if (isStepsError(error)) throw error;
    onSilent(messageOf(error));
  }
  return s3Store(settings, { maxBytes });
}
