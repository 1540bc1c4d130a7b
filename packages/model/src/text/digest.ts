/** The first 12 digits: how a digest is shown to people. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}
