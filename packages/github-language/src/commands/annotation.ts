/** The severity of an annotation. Interpreters print `debug` messages and make no annotations of them. */
export type AnnotationLevel = "debug" | "notice" | "warning" | "error";

/** A message about a place in the source, from a workflow command or from a problem matcher. */
export interface Annotation {
  readonly level: AnnotationLevel;
  /** The text, of at most `ANNOTATION_MAX_LENGTH` characters. */
  readonly message: string;
  readonly title?: string;
  /** The path of the file as the step named it: relative to the workspace, or absolute. */
  readonly file?: string;
  /** Lines and columns count from 1. */
  readonly line?: number;
  readonly endLine?: number;
  readonly col?: number;
  readonly endColumn?: number;
  /** The code of the tool's own message, such as `TS2304`. */
  readonly code?: string;
  /** The owner of the problem matcher that found it. */
  readonly matcher?: string;
}

/** Longer messages of annotations are cut; the log has them whole. */
export const ANNOTATION_MAX_LENGTH = 4096;

/** More annotations of one level in one step stay in the log only. */
export const ANNOTATIONS_PER_LEVEL = 10;

type Place = Pick<Annotation, "line" | "endLine" | "col" | "endColumn">;

/** The annotation of a command: properties that are not its own are left out, and places that cannot be. */
export function commandAnnotation(
  level: AnnotationLevel,
  message: string,
  properties: ReadonlyMap<string, string> = new Map(),
): Annotation {
  const title = properties.get("title");
  const file = properties.get("file");
  return {
    level,
    message: cutMessage(message),
    title: title === undefined ? undefined : cutMessage(title),
    file,
    ...placeOf(properties),
  };
}

/** The text, cut to what an annotation may hold, never within a character. */
export function cutMessage(text: string): string {
  return text.length <= ANNOTATION_MAX_LENGTH
    ? text
    : text.slice(0, ANNOTATION_MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
}

/** A number of a line or a column, or nothing for what is none. */
export function parsePosition(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}

function placeOf(properties: ReadonlyMap<string, string>): Place {
  const endLine = parsePosition(properties.get("endline"));
  const line = parsePosition(properties.get("line")) ?? endLine;
  const endColumn = parsePosition(properties.get("endcolumn"));
  const col = parsePosition(properties.get("col")) ?? endColumn;
  const isBackwards = line !== undefined && endLine !== undefined && endLine < line;
  const isOneLine = line !== undefined && (endLine === undefined || endLine === line);
  const hasColumns = isOneLine && !(col !== undefined && endColumn !== undefined && endColumn < col);
  return {
    ...(line === undefined || isBackwards ? {} : { line }),
    ...(endLine === undefined || isBackwards ? {} : { endLine }),
    ...(col === undefined || !hasColumns ? {} : { col }),
    ...(endColumn === undefined || !hasColumns ? {} : { endColumn }),
  };
}
