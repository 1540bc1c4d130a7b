/** Bytes of unpadded base64url in its one canonical spelling; undefined for any other text. */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
