import { randomUUID } from "node:crypto";
import type { UrlSigner } from "../auth/url-signer.ts";
import type { BlockUpload } from "../store/block-upload.ts";
import { openPlainFile } from "../store/files.ts";
import { chunksOf, contentLength, readBody } from "../http/body.ts";
import type { HttpContext } from "../http/context.ts";
import { badRequest, HttpError, notFound } from "../http/http-error.ts";
import type { FileAnswer } from "../http/send.ts";
import { sendFile } from "../http/send.ts";

/** 50,000 names of 64 bytes in Base64, and what is around them. */
const MAX_BLOCK_LIST_BYTES = 16 * 1024 ** 2;
const MAX_BLOCK_ID_LENGTH = 128;
/** A URL that was not used while so many others were made has gone astray. */
const MAX_LINKS = 10_000;

/** A file that whoever has the URL may read. */
interface Download {
  readonly path: string;
  readonly size: number;
  readonly answer: FileAnswer;
}

/** Makes and answers the signed URLs. */
export interface Blobs {
  readonly linkToUpload: (upload: BlockUpload) => string;
  readonly linkToDownload: (download: Download) => string;
  /** Answers a request below `/blobs/`, with no token but the URL itself. */
  readonly handle: (context: Omit<HttpContext, "params">) => Promise<void>;
}

/** Signed URLs to uploads and downloads: the part of Azure's blob storage that clients of GitHub's services use. */
export function createBlobs(signer: UrlSigner): Blobs {
  const uploads = new Map<string, BlockUpload>();
  const downloads = new Map<string, Download>();
  return {
    linkToUpload: (upload) => {
      const id = randomUUID();
      forgetOldest(uploads);
      uploads.set(id, upload);
      return signer.sign("upload", id);
    },
    linkToDownload: (download) => {
      const id = randomUUID();
      forgetOldest(downloads);
      downloads.set(id, download);
      return signer.sign("download", id);
    },
    handle: async (context) => {
      const signed = signer.verify(context.url);
      if (signed === undefined)
        throw new HttpError(403, "AuthenticationFailed", "The signature is wrong or has expired");
      if (signed.action === "upload") return await receive(context, uploads.get(signed.id));
      await give(context, downloads.get(signed.id));
    },
  };
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.size < MAX_LINKS ? [] : map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

async function give({ request, response }: Omit<HttpContext, "params">, download: Download | undefined): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") throw notAllowed();
  const file = download === undefined ? undefined : await openPlainFile(download.path);
  if (download === undefined || file === undefined) throw notFound("It is no longer there");
  try {
    if (file.size !== download.size) throw notFound("It is no longer what it was");
    await sendFile(request, response, { ...file, answer: download.answer });
  } finally {
    await file.handle.close();
  }
}

/** Put Blob, Put Block and Put Block List of Azure's protocol. */
async function receive(context: Omit<HttpContext, "params">, upload: BlockUpload | undefined): Promise<void> {
  const { request, response, url } = context;
  if (request.method !== "PUT") throw notAllowed();
  if (upload === undefined) throw notFound("The upload has ended");
  const operation = url.searchParams.get("comp");
  if (operation === "block") {
    const id = url.searchParams.get("blockid") ?? "";
    if (id === "" || id.length > MAX_BLOCK_ID_LENGTH)
      throw badRequest("The block has no name, or one that is too long");
    await upload.putBlock(id, chunksOf(request), contentLength(request));
  } else if (operation === "blocklist") {
    const text = (await readBody(request, MAX_BLOCK_LIST_BYTES)).toString("utf8");
    await upload.commit(parseBlockList(text));
  } else if (operation === null) {
    const type = request.headers["x-ms-blob-type"] ?? "BlockBlob";
    if (type !== "BlockBlob") throw new HttpError(400, "InvalidBlobType", "Only block blobs are here");
    await upload.putWhole(chunksOf(request), contentLength(request));
  } else {
    throw new HttpError(400, "UnsupportedQueryParameter", "This operation on a blob is not known here");
  }
  response.writeHead(201, {
    "Content-Length": 0,
    ETag: `"${randomUUID()}"`,
    "Last-Modified": new Date().toUTCString(),
    "x-ms-request-id": randomUUID(),
    "x-ms-version": "2021-12-02",
    "x-ms-request-server-encrypted": "false",
  });
  response.end();
}

/** The names in a list of blocks, in order. They are Base64, so nothing in them is escaped. */
function parseBlockList(xml: string): readonly string[] {
  const body = /<BlockList>(.*)<\/BlockList>/s.exec(xml)?.[1];
  if (body === undefined && !/<BlockList\s*\/>/.test(xml)) throw badRequest("The list of blocks is malformed");
  const names = (body ?? "").matchAll(/<(Latest|Uncommitted|Committed)>\s*([^<\s]*)\s*<\/\1>/g);
  return [...names].map(([, , name = ""]) => name);
}

function notAllowed(): HttpError {
  return new HttpError(405, "UnsupportedHttpVerb", "The method does not go with this URL");
}
