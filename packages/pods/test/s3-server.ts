import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** The credentials that the double knows. */
export const S3_KEYS = { AWS_ACCESS_KEY_ID: "AKIDTEST", AWS_SECRET_ACCESS_KEY: "secret/of+the=test" } as const;

/** Does something else in place of an answer, and says so. */
export type S3Fault = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

interface Upload {
  readonly key: string;
  readonly begun: string;
  readonly parts: Map<number, Buffer>;
}

/**
 * A strict double of an S3-compatible store with one bucket, `bucket`. Signatures (version 4, in headers and in URLs) are computed
 * here once more, and the digests of bodies compared; parts but the last have 5 MiB at least.
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  /** Method and path of all requests that were taken. */
  readonly requests: string[] = [];
  /** The longest body, in bytes. */
  longest = 0;
  fault: S3Fault | undefined;
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response).catch(() => response.destroy());
  });

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The address for a pod. */
  address(more = ""): string {
    return `s3://bucket/ci/pods?endpoint=${encodeURIComponent(this.url)}&region=test-1${more}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    if (this.fault?.(request, response, url) === true) return;
    const body = await buffer(request);
    this.longest = Math.max(this.longest, body.length);
    const problem = this.#checkSignature(request, url, body);
    if (problem !== undefined) return refuse(response, 403, problem);
    this.requests.push(`${request.method} ${url.pathname}`);
    if (!url.pathname.startsWith("/bucket/")) return refuse(response, 404, "NoSuchBucket");
    const key = decodeURIComponent(url.pathname.slice("/bucket/".length));
    if (key === "") return this.#list(response, url);
    this.#object(request, response, { url, key, body });
  }

  #object(
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    { url, key, body }: { readonly url: URL; readonly key: string; readonly body: Buffer },
  ): void {
    const id = url.searchParams.get("uploadId");
    if (id !== null && !this.uploads.has(id)) return refuse(response, 404, "NoSuchUpload");
    const upload = this.uploads.get(id ?? "");
    if (method === "POST" && url.searchParams.has("uploads")) {
      const begun = randomUUID();
      this.uploads.set(begun, { key, begun: new Date().toISOString(), parts: new Map() });
      return answer(
        response,
        `<InitiateMultipartUploadResult><UploadId>${begun}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (method === "POST" && upload !== undefined) return this.#complete(response, upload, { id: id ?? "", body });
    if (method === "PUT" && upload !== undefined) {
      upload.parts.set(Number(url.searchParams.get("partNumber")), body);
      return void response.writeHead(200, { etag: tagOf(body) }).end();
    }
    if (method === "PUT") {
      this.objects.set(key, body);
      return void response.writeHead(200, { etag: tagOf(body) }).end();
    }
    if (method === "DELETE") {
      if (upload === undefined) this.objects.delete(key);
      else this.uploads.delete(id ?? "");
      return void response.writeHead(204).end();
    }
    const bytes = this.objects.get(key);
    if (bytes === undefined) return refuse(response, 404, "NoSuchKey");
    const [, first, last] = /^bytes=(\d+)-(\d+)$/u.exec(headers.range ?? "") ?? [];
    const part = first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1);
    const disposition = url.searchParams.get("response-content-disposition");
    response.writeHead(first === undefined ? 200 : 206, {
      "content-length": part.length,
      ...(disposition !== null && { "content-disposition": disposition }),
    });
    response.end(method === "HEAD" ? undefined : part);
  }

  #complete(
    response: ServerResponse,
    { key, parts }: Upload,
    { id, body }: { readonly id: string; readonly body: Buffer },
  ): void {
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/gu)];
    const bytes = named.map(([, number, tag = ""], at) => {
      const part = parts.get(Number(number));
      if (part === undefined || tagOf(part) !== tag.replaceAll("&quot;", '"')) return undefined;
      return at < named.length - 1 && part.length < 5 * 1024 * 1024 ? undefined : part;
    });
    if (named.length === 0 || named.length !== parts.size || bytes.includes(undefined))
      return refuse(response, 400, "InvalidPart");
    this.objects.set(key, Buffer.concat(bytes as Buffer[]));
    this.uploads.delete(id);
    answer(response, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
  }

  #list(response: ServerResponse, url: URL): void {
    const prefix = url.searchParams.get("prefix") ?? "";
    if (!url.searchParams.has("uploads")) return answer(response, "<ListBucketResult></ListBucketResult>");
    const items = [...this.uploads].flatMap(([id, { key, begun }]) =>
      key.startsWith(prefix)
        ? [`<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun}</Initiated></Upload>`]
        : [],
    );
    answer(response, `<ListMultipartUploadsResult>${items.join("")}</ListMultipartUploadsResult>`);
  }

  #checkSignature({ method = "", headers }: IncomingMessage, url: URL, body: Buffer): string | undefined {
    const query = new URLSearchParams(url.searchParams);
    const isInQuery = query.has("X-Amz-Signature");
    const found = isInQuery
      ? {
          credential: query.get("X-Amz-Credential") ?? "",
          signed: query.get("X-Amz-SignedHeaders") ?? "",
          signature: query.get("X-Amz-Signature") ?? "",
        }
      : /^AWS4-HMAC-SHA256 Credential=(?<credential>\S+), SignedHeaders=(?<signed>\S+), Signature=(?<signature>\w+)$/u.exec(
          headers.authorization ?? "",
        )?.groups;
    if (found === undefined) return "AccessDenied";
    const { credential = "", signed = "", signature } = found;
    const [key, date = "", region = "", service = ""] = credential.split("/");
    if (key !== S3_KEYS.AWS_ACCESS_KEY_ID) return "InvalidAccessKeyId";
    query.delete("X-Amz-Signature");
    const time = (isInQuery ? query.get("X-Amz-Date") : headers["x-amz-date"]) as string;
    const digest = isInQuery ? "UNSIGNED-PAYLOAD" : (headers["x-amz-content-sha256"] as string);
    if (!isInQuery && digest !== sha256(body)) return "XAmzContentSHA256Mismatch";
    const age = Date.now() - Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/u, "$1-$2-$3T$4:$5:$6Z"));
    if (age > (isInQuery ? Number(query.get("X-Amz-Expires")) * 1000 : 900_000)) return "RequestTimeTooSkewed";
    const canonical = [
      method,
      url.pathname,
      [...query]
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .toSorted()
        .join("&"),
      ...signed.split(";").map((name) => `${name}:${headers[name] as string}`),
      "",
      signed,
      digest,
    ].join("\n");
    const scope = `${date}/${region}/${service}/aws4_request`;
    const keyOf = [date, region, service, "aws4_request"].reduce<string | Buffer>(
      (last, part) => hmac(last, part),
      `AWS4${S3_KEYS.AWS_SECRET_ACCESS_KEY}`,
    );
    const expected = hmac(keyOf, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
    return expected === signature && service === "s3" ? undefined : "SignatureDoesNotMatch";
  }
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/gu,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function tagOf(bytes: Buffer): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

function answer(response: ServerResponse, xml: string): void {
  response.writeHead(200, { "content-type": "application/xml" }).end(xml);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`);
}
