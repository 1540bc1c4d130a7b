import type { ArtifactWriter } from "./artifact-store.ts";
import { failure, type S3Bucket } from "./s3-bucket.ts";

/** An object that is uploaded in parts as its bytes come, or at once when they are few. */
export class S3Writer implements ArtifactWriter {
  readonly #bucket: S3Bucket;
  readonly #object: string;
  readonly #partBytes: number;
  #chunks: Buffer[] = [];
  #waiting = 0;
  #size = 0;
  #uploadId: string | undefined;
  readonly #tags: string[] = [];

  constructor(bucket: S3Bucket, object: string, partBytes: number) {
    this.#bucket = bucket;
    this.#object = object;
    this.#partBytes = partBytes;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#size += bytes.length;
    for (let rest = bytes; rest.length > 0;) {
      const piece = rest.subarray(0, this.#partBytes - this.#waiting);
      rest = rest.subarray(piece.length);
      this.#chunks.push(piece);
      this.#waiting += piece.length;
      if (this.#waiting === this.#partBytes) await this.#sendPart();
    }
  }

  async keep(): Promise<void> {
    const object = this.#object;
    if (this.#uploadId === undefined) {
      await this.#bucket.send({ method: "PUT", object, body: this.#take() });
      return;
    }
    if (this.#waiting > 0) await this.#sendPart();
    const parts = this.#tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
    const query = { uploadId: this.#uploadId };
    const { text } = await this.#bucket.send({ method: "POST", object, query, body, accepts: [404] });
    // A failure may come with status 200; and 404 may mean that the answer to a success was lost.
    if (!text.includes("<CompleteMultipartUploadResult") && !(await this.#isThere()))
      throw failure("the upload was not completed");
    this.#uploadId = undefined;
  }

  async discard(): Promise<void> {
    const uploadId = this.#uploadId;
    this.#chunks = [];
    if (uploadId === undefined) return;
    this.#uploadId = undefined;
    const abort = { method: "DELETE", object: this.#object, query: { uploadId }, accepts: [404] } as const;
    // A store that does not answer now is tidied later.
    await this.#bucket.send(abort).catch(() => undefined);
  }

  async #sendPart(): Promise<void> {
    this.#uploadId ??= await this.#begin();
    const query = { partNumber: String(this.#tags.length + 1), uploadId: this.#uploadId };
    const reply = await this.#bucket.send({ method: "PUT", object: this.#object, query, body: this.#take() });
    const tag = reply.headers.get("etag");
    if (tag === null) throw failure("a part has no ETag");
    this.#tags.push(escapeXml(tag));
  }

  async #begin(): Promise<string> {
    const { text } = await this.#bucket.send({ method: "POST", object: this.#object, query: { uploads: "" } });
    const id = /<UploadId>([^<]+)<\/UploadId>/u.exec(text)?.[1];
    if (id === undefined) throw failure("the upload has no id");
    return id;
  }

  async #isThere(): Promise<boolean> {
    const reply = await this.#bucket.send({ method: "HEAD", object: this.#object, accepts: [404] });
    return reply.status === 200 && Number(reply.headers.get("content-length")) === this.#size;
  }

  #take(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#waiting = 0;
    return bytes;
  }
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
