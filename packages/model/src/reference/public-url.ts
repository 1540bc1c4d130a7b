const TOKEN_PARAMETERS =
  /([?&#](?:[a-z_]*token|auth|password|passwd|[a-z_]*secret|api_?key|key|signature|sig|x-(?:amz|goog)-[a-z-]+)=)[^&#]*/gi;

/** A URL as it may be shown and stored: without user name, password and known token parameters. */
export function publicUrl(url: string): string {
  return (
    url
      // Readers of URLs take `https:/` and `https:\\` for `https://`.
      .replace(/^(\s*[a-zA-Z][a-zA-Z0-9+.-]*:[/\\]+)[^/\\?#]*@/, "$1")
      .replace(/^[^/\\?#@\s]+:[^/\\?#@\s]*@/, "")
      .replaceAll(TOKEN_PARAMETERS, "$1[MASKED]")
  );
}
