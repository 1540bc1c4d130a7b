import { JOBS } from "./migrations/0001-jobs.ts";
import { OFFERS } from "./migrations/0002-offers.ts";
import { RESETS } from "./migrations/0003-resets.ts";

/** The statements that make the tables, by the version that they lead to. One that has landed is never changed. */
export const MIGRATIONS: readonly (readonly string[])[] = [JOBS, OFFERS, RESETS];
