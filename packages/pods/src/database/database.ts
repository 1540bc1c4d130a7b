import { StepsError } from "@steps/model";

/** Runs statements of SQL, with `$1`, `$2` … for the values. */
export interface Sql {
  /** Runs one statement and gives its rows. Numbers of 64 bits are numbers, times are dates, JSON is parsed, bytes are a buffer. */
  readonly query: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
}

/** The database of a pod: PGlite in this process, or a PostgreSQL that several processes share. Both speak one dialect. */
export interface Database extends Sql {
  readonly kind: "embedded" | "postgres";
  /** Runs statements that take effect together, or not at all when `work` throws. */
  readonly transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Tells all processes of the pod something. A hint may be lost; nothing may depend on it but speed. */
  readonly hint: (text: string) => void;
  /** Calls back for each hint of any process, also of this one. */
  readonly onHint: (heard: (text: string) => void) => void;
  readonly close: () => Promise<void>;
}

/** Why a database cannot be used. */
export type DatabaseErrorCode = "DATABASE_UNAVAILABLE" | "DATABASE_INVALID";

/** The database does not answer, or it is not one that this pod can work with. */
export class DatabaseError extends StepsError<DatabaseErrorCode> {
  override readonly name = "DatabaseError";
}

/** Whether an error says that the database could not be reached or takes no changes, so that the same call may do later. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "DATABASE_UNAVAILABLE";
}
