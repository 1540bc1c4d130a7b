import { type Log, LOG_LEVELS, type LogLevel } from "@steps/model/operation";
import { errors, programName } from "../terminal.ts";
import { harmless } from "../terminal-text.ts";

/** The options of a log, as flags give them. */
export interface LogOptions {
  readonly logFormat: "text" | "json";
  readonly logLevel: LogLevel;
}

/** The lines that wait for a reader who is behind; more would be held in memory without end. */
const MAX_WAITING = 10_000;

/**
 * The log of this program on standard error: one line an event. A line that cannot be written, because the reader is too far behind or
 * the disk is full, is counted and dropped: no program ends because of its log. The next line that can be written tells the count.
 */
export function openLog({ logFormat, logLevel }: LogOptions): Log {
  const least = LOG_LEVELS.indexOf(logLevel);
  const format = logFormat === "json" ? formatJson : formatText;
  let waiting = 0;
  let lost = 0;
  const write = (line: string): boolean => {
    try {
      const written = errors.writeLines(line);
      if (written === undefined) return true;
      waiting += 1;
      const settle = (lines: number) => () => {
        waiting -= 1;
        lost += lines;
        tellLost();
      };
      void written.then(settle(0), settle(1));
      return true;
    } catch {
      return false;
    }
  };
  const tellLost = (): void => {
    if (waiting > 0 || lost === 0) return;
    if (write(format("warning", "Lines of this log were lost, because they could not be written", { lines: lost })))
      lost = 0;
  };
  return (level, message, facts = {}) => {
    if (LOG_LEVELS.indexOf(level) < least) return;
    tellLost();
    if (waiting >= MAX_WAITING || !write(format(level, message, facts))) lost += 1;
  };
}

type Format = (level: LogLevel, message: string, facts: Readonly<Record<string, unknown>>) => string;

const formatJson: Format = (level, message, facts) =>
  `${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`;

const formatText: Format = (level, message, facts) => {
  const head = level === "info" ? "" : `${level}: `;
  const details = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quoteText(String(value))}`);
  return `${harmless(`${programName()}: ${head}${message}${details.join("")}`, { hasColor: false })}\n`;
};

// A value with blanks, or with what could be taken for the end of the line, stands in quotes.
function quoteText(text: string): string {
  return /^[^\s"=\\]+$/u.test(text) ? text : JSON.stringify(text);
}
