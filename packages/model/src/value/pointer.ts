/** A name as a segment of a JSON pointer (RFC 6901): `~` is written `~0`, and `/` is written `~1`. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The name that a segment of a JSON pointer stands for; the inverse of `escapePointer()`. */
export function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
