/** What one object of the cache knows of the user's credentials. They are kept in memory only. */
export interface UserCredentials {
  /** The header that a repository took, and where it came from, by the user that the reference names and the URL. */
  readonly accepted: Map<string, { readonly authorization: string; readonly source: string }>;
  /** The searches that ended in a refusal, by the same: nobody is asked the same twice. */
  readonly failed: Map<string, CredentialSearch>;
}

/** What came of the search for credentials, for messages. */
export interface CredentialSearch {
  /** The places whose credentials the server did not take. */
  readonly refused: readonly string[];
  /** The place whose credentials the server knew, but did not do for them what it was asked. */
  readonly insufficient: string | undefined;
  /** For each place that had none a sentence that says why, without its full stop. */
  readonly nothing: readonly string[];
  /** The origin whose answer was 401, if one's was: another one than that of the URL after a redirect. */
  readonly refusedBy: string | undefined;
  /** The way to what `insteadOf` does, if a rule is for this URL. */
  readonly rewrite: string | undefined;
}
