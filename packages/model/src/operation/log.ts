/** The levels of a line of log, the least important first. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

/** How important a line of log is. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Takes what the operator of a long-running program may want to know: one event with its facts. The message is a sentence without its
 * final period that is the same for all events of its kind; ids and numbers are facts. Neither holds a secret or a part of a request.
 */
export type Log = (level: LogLevel, message: string, facts?: Readonly<Record<string, unknown>>) => void;
