import { StepsError } from "@steps/model";

/** The address of a store of artifacts makes no sense, or the store is not there. Messages hold no credentials. */
export class ArtifactStoreError extends StepsError<"ARTIFACT_STORE_INVALID"> {}

/** A bucket, and how to get at it. It holds secrets. */
export interface S3Settings {
  /** The URL of the bucket with the prefix, without a slash at the end: `https://s3.example.com/bucket/prefix`. */
  readonly base: string;
  /** The URL of the bucket alone. */
  readonly bucket: string;
  /** The prefix of all names of objects; it ends with a slash, or is empty. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  /** Whether who downloads is sent to the store itself. */
  readonly redirects: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const KEYS: ReadonlySet<string> = new Set(["endpoint", "region", "addressing", "redirect"]);

/**
 * Reads `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&addressing=path|virtual&redirect=true|false]`. The rest comes
 * from the variables that AWS's tools have: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_DEFAULT_REGION`;
 * credentials from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` alone.
 *
 * @throws {ArtifactStoreError} ARTIFACT_STORE_INVALID
 */
export function readS3Settings(address: string, env: Env): S3Settings {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "s3:" || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u.test(url.host) || url.username !== "")
    throw invalid("it is no s3://BUCKET/PREFIX");
  const other = [...url.searchParams.keys()].find((key) => !KEYS.has(key));
  if (other !== undefined) throw invalid(`"${other}" is no setting`, `It takes ${[...KEYS].join(", ")}.`);
  const region = url.searchParams.get("region") ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1";
  const given = url.searchParams.get("endpoint") ?? env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
  const addressing = choice(url, "addressing", ["path", "virtual"], given === undefined ? "virtual" : "path");
  const bucket = bucketUrl(given ?? `https://s3.${region}.amazonaws.com`, url.host, addressing);
  const path = url.pathname.replaceAll(/^\/+|\/+$/gu, "");
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (!accessKeyId || !secretAccessKey)
    throw invalid("there are no credentials", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
  return {
    base: path === "" ? bucket : `${bucket}/${path}`,
    bucket,
    prefix: path === "" ? "" : `${decodeURIComponent(path)}/`,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: token === "" ? undefined : token,
    redirects: choice(url, "redirect", ["true", "false"], "true") === "true",
  };
}

function bucketUrl(endpoint: string, bucket: string, addressing: "path" | "virtual"): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol) || url.search !== "" || url.username !== "")
    throw invalid("its endpoint is no http or https URL");
  if (addressing === "virtual") url.hostname = `${bucket}.${url.hostname}`;
  else url.pathname = `${url.pathname.replace(/\/+$/u, "")}/${bucket}`;
  return url.href.replace(/\/+$/u, "");
}

function choice<const C extends string>(url: URL, key: string, choices: readonly C[], fallback: C): C {
  const value = url.searchParams.get(key) ?? fallback;
  const found = choices.find((one) => one === value);
  if (found === undefined) throw invalid(`its ${key} is one of ${choices.join(", ")}`);
  return found;
}

function invalid(problem: string, hint?: string): ArtifactStoreError {
  return new ArtifactStoreError("ARTIFACT_STORE_INVALID", `The store of artifacts cannot be used: ${problem}`, {
    hint,
  });
}
