import { posix } from "node:path";
import { type AnnotationLevel, type Annotation, cutMessage, parsePosition } from "./annotation.ts";
import { MATCHED_FIELDS, type MatchedField, type MatcherConfig, parseMatchers } from "./matcher-config.ts";

type Found = Readonly<Partial<Record<MatchedField, string>>>;

/** How far problems of several lines have come on one stream of one process; only `ProblemMatchers` looks inside. */
export interface MatchScan {
  /** The matched lines by matcher, down to the line that each pattern but the last has matched. */
  readonly lines: WeakMap<object, (readonly string[] | undefined)[]>;
}

interface Matcher extends MatcherConfig {
  readonly file: string | undefined;
  strikes: number;
}

/** The length up to which longer lines are matched. */
const MAX_LINE_LENGTH = 4096;
const MAX_MATCHERS = 100;
const MAX_STRIKES = 3;

/** The problem matchers of a job. They never take more than a bounded number of steps for a line. */
export class ProblemMatchers {
  #matchers: readonly Matcher[] = [];
  #dropped: string[] = [];
  readonly #scan: MatchScan = { lines: new WeakMap() };

  /** How many owners have a matcher. */
  get size(): number {
    return this.#matchers.length;
  }

  /**
   * Adds the matchers of a file's text, before those there are; one of the same owner is replaced. `file` is what
   * `removeByFile` is told. At most 100 are kept, the newest.
   *
   * @throws ProblemMatcherError, and nothing is added then.
   */
  add(json: string, file?: string): void {
    for (const config of parseMatchers(json)) {
      this.remove(config.owner);
      this.#matchers = [{ ...config, file, strikes: 0 }, ...this.#matchers].slice(0, MAX_MATCHERS);
    }
  }

  /** Removes the matcher of an owner, whatever the case of its letters. */
  remove(owner: string): void {
    this.#matchers = this.#matchers.filter((matcher) => matcher.owner.toLowerCase() !== owner.toLowerCase());
  }

  /** Removes the matchers that were added from a file, named as it was then. */
  removeByFile(file: string): void {
    this.#matchers = this.#matchers.filter((matcher) => matcher.file !== file);
  }

  /** A scan for one stream of one process. */
  createScan(): MatchScan {
    return { lines: new WeakMap() };
  }

  /** The line as the matchers see it: without colour codes. */
  plainText(line: string): string {
    return line.includes("\u001B[") ? line.replaceAll(/\u001B\[[0-9;]*m?/g, "") : line;
  }

  /** The problem that ends with this line, if any. Without `scan`, all lines are taken to be of one stream. */
  match(line: string, scan: MatchScan = this.#scan): Annotation | undefined {
    const text = this.plainText(line).slice(0, MAX_LINE_LENGTH);
    for (const matcher of this.#matchers) {
      const found = this.#matchOne(matcher, text, scan);
      if (!found) continue;
      for (const other of this.#matchers) if (other !== matcher) scan.lines.delete(other);
      const annotation = annotationOf(found, matcher);
      if (annotation) return annotation;
    }
    return undefined;
  }

  /** The owners whose matchers were removed since the last call because their patterns took too long. */
  takeDropped(): readonly string[] {
    if (this.#dropped.length === 0) return this.#dropped;
    return this.#dropped.splice(0);
  }

  #matchOne(matcher: Matcher, text: string, scan: MatchScan): Found | undefined {
    const { patterns } = matcher;
    const last = patterns.length - 1;
    if (last === 0) return this.#matches(matcher, 0, text) ? this.#fieldsOf(matcher, [text]) : undefined;
    const before = scan.lines.get(matcher) ?? [];
    // From the last one back: a line goes on with a problem before it begins another.
    for (let index = last; index >= 0; index--) {
      const running = index === 0 ? [] : before[index - 1];
      if (!running) continue;
      const isMatch = this.#matches(matcher, index, text);
      if (!isMatch) before[index === last ? index - 1 : index] = undefined;
      else if (index < last) before[index] = [...running, text];
      else {
        const isLoop = patterns[last]?.isLoop === true;
        scan.lines.set(matcher, isLoop ? before.map((lines, at) => (at === last - 1 ? lines : undefined)) : []);
        return this.#fieldsOf(matcher, [...running, text]);
      }
    }
    scan.lines.set(matcher, before);
    return undefined;
  }

  #matches(matcher: Matcher, index: number, text: string): boolean {
    const result = matcher.patterns[index]?.pattern.test(text) ?? false;
    return result === "exhausted" ? this.#strike(matcher) : result;
  }

  // Only a problem that is whole is worth finding the groups of all its lines.
  #fieldsOf(matcher: Matcher, lines: readonly string[]): Found | undefined {
    const found: Partial<Record<MatchedField, string>> = {};
    for (const [index, { pattern, fields }] of matcher.patterns.entries()) {
      const groups = pattern.match(lines[index] ?? "");
      if (groups === "exhausted") this.#strike(matcher);
      if (groups === "exhausted" || !groups) return undefined;
      for (const field of MATCHED_FIELDS) {
        const group = fields[field];
        if (group !== undefined) found[field] = groups[group] ?? "";
      }
    }
    return found;
  }

  #strike(matcher: Matcher): false {
    matcher.strikes += 1;
    if (matcher.strikes >= MAX_STRIKES && this.#matchers.includes(matcher)) {
      this.#matchers = this.#matchers.filter((other) => other !== matcher);
      this.#dropped.push(matcher.owner);
    }
    return false;
  }
}

function annotationOf(found: Found, matcher: Matcher): Annotation | undefined {
  const level = (found.severity || matcher.severity || "error").toLowerCase();
  const message = found.message ?? "";
  if (message.trim() === "" || !isSeverity(level)) return undefined;
  const line = parsePosition(found.line);
  const col = parsePosition(found.column);
  const code = found.code?.trim() ?? "";
  const file = fileOf(found);
  return {
    level,
    message: cutMessage(message),
    ...(file === "" ? {} : { file }),
    line,
    col,
    ...(code === "" ? {} : { code }),
    matcher: matcher.owner,
  };
}

function isSeverity(text: string): text is AnnotationLevel {
  return text === "error" || text === "warning" || text === "notice";
}

function fileOf({ file = "", fromPath = "" }: Found): string {
  if (file.trim() === "") return "";
  const isAbsolute = file.startsWith("/") || /^[A-Za-z]:[\\/]|^\\\\/.test(file);
  if (isAbsolute || fromPath.trim() === "") return file;
  return posix.join(posix.dirname(fromPath.replaceAll("\\", "/")), file.replaceAll("\\", "/"));
}
