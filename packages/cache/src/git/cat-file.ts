import type { GitCall } from "./git-process.ts";
import { killGit, startGit } from "./git-process.ts";
import type { GitObject, GitObjectType, ObjectSource } from "./git-objects.ts";
import { mismatch } from "./git-objects.ts";

/** Reads objects of a store through one `git cat-file --batch`, started when the first is asked for. */
export function openCatFile(call: Omit<GitCall, "args">, store: string): ObjectSource {
  let opened: Promise<{ reader: ByteReader; write: (text: string) => void; close: () => void }> | undefined;

  let unread: AsyncIterable<Uint8Array> | undefined;

  const open = async (): Promise<{ reader: ByteReader; write: (text: string) => void; close: () => void }> => {
    const child = await startGit({ ...call, args: [`--git-dir=${store}`, "cat-file", "--batch"] });
    const onAbort = (): void => killGit(child);
    call.signal?.addEventListener("abort", onAbort, { once: true });
    child.on("error", () => undefined);
    child.on("close", () => call.signal?.removeEventListener("abort", onAbort));
    child.stderr.resume();
    return {
      reader: createByteReader(child.stdout),
      write: (text) => void child.stdin.write(text),
      close: () => killGit(child),
    };
  };

  return {
    async *read(ids) {
      if (ids.length === 0) return;
      const { reader, write } = await (opened ??= open());
      write(ids.map((id) => `${id}\n`).join(""));
      for (const id of ids) {
        if (unread !== undefined) {
          for await (const _rest of unread);
          await reader.line();
        }
        const header = /^([0-9a-f]+) (blob|tree|commit|tag) (\d+)$/.exec(await reader.line());
        if (header === null || header[1] !== id) throw mismatch(`object "${id}" is missing`);
        const size = Number(header[3]);
        const content = reader.take(size);
        const object: GitObject = { id, type: header[2] as GitObjectType, size, content };
        // This stands before the yield, because a reader that stops early does not return to the line after it.
        unread = content;
        yield object;
      }
    },
    async [Symbol.asyncDispose]() {
      (await opened)?.close();
    },
  };
}

interface ByteReader {
  /** Reads up to the next line feed, and returns the text without it. */
  line(): Promise<string>;
  /** The next bytes. What is not read of them is read by iterating again. */
  take(bytes: number): AsyncIterable<Uint8Array>;
}

const MAX_LINE_BYTES = 1024;

function createByteReader(stream: AsyncIterable<unknown>): ByteReader {
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const { value, done } = await chunks.next();
    if (done === true) throw mismatch("git ended before it had given everything");
    buffer = buffer.byteLength === 0 ? value : Buffer.concat([buffer, value]);
  };
  return {
    async line() {
      for (;;) {
        const end = buffer.indexOf(0x0a);
        if (end !== -1) {
          const line = buffer.toString("latin1", 0, end);
          buffer = buffer.subarray(end + 1);
          return line;
        }
        if (buffer.byteLength > MAX_LINE_BYTES) throw mismatch("git answered with something else");
        await more();
      }
    },
    take(bytes) {
      let left = bytes;
      return {
        async *[Symbol.asyncIterator]() {
          while (left > 0) {
            if (buffer.byteLength === 0) await more();
            const chunk = buffer.subarray(0, left);
            buffer = buffer.subarray(chunk.byteLength);
            left -= chunk.byteLength;
            yield chunk;
          }
        },
      };
    },
  };
}
