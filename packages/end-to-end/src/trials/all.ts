import type { Trial } from "../trial.ts";
import { cuts } from "./cuts.ts";
import { followers } from "./followers.ts";
import { hostileArchives } from "./hostile-archives.ts";
import { killJob } from "./kill-job.ts";
import { killService } from "./kill-service.ts";
import { largeRequests } from "./large-requests.ts";
import { orphans, orphansOfService } from "./orphans.ts";
import { pods, podsPostgres } from "./pods.ts";
import { secretEncodings } from "./secret-encodings.ts";
import { secretPieces } from "./secret-pieces.ts";
import { wholeLines } from "./whole-lines.ts";

/** Every trial, in the order of the table. */
export const TRIALS: readonly Trial[] = [
  cuts,
  followers,
  killJob,
  killService,
  orphans,
  orphansOfService,
  secretPieces,
  secretEncodings,
  wholeLines,
  hostileArchives,
  largeRequests,
  pods,
  podsPostgres,
];
