/** The formats of an artifact: what the bytes are. */
export const ARTIFACT_FORMATS = ["zip", "gzip", "raw", "zipzstd", "tarzstd"] as const;

/** The options of an upload: a runner sends them in the query, others as fields of the form, before or after the file. */
export interface ArtifactOptions {
  /** The time to keep it, in GitLab's words (`1 week`). Absent: the server's default. */
  readonly expire_in?: string | undefined;
  /** Default: `archive`. Others are `metadata`, `trace` and the types of reports: `junit`, `dotenv`, … */
  readonly artifact_type: string;
  /** Default: `zip`. */
  readonly artifact_format: string;
  /** `public`, `private` and other words of the server. Absent: its default. */
  readonly accessibility?: string | undefined;
}

/** Puts the options together from the query and the fields of the form; the query counts more. */
export function readArtifactOptions(
  query: Readonly<Record<string, string | undefined>>,
  fields: Readonly<Record<string, string | undefined>> = {},
): ArtifactOptions {
  const of = (name: string): string | undefined => {
    const value = query[name] ?? fields[name];
    return value === undefined || value === "" ? undefined : value.slice(0, 255);
  };
  return {
    expire_in: of("expire_in"),
    artifact_type: of("artifact_type") ?? "archive",
    artifact_format: of("artifact_format") ?? "zip",
    accessibility: of("accessibility"),
  };
}

/** Writes the options as a query, without the question mark. */
export function formatArtifactQuery(options: ArtifactOptions): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) if (value !== undefined && value !== "") query.set(name, value);
  return query.toString();
}
