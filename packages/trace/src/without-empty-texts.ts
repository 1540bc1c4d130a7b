/** Leaves out texts that are empty, as protobuf's JSON leaves out zero values. */
export function withoutEmptyTexts<T extends object>(texts: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")) as { [K in keyof T]?: string };
}
