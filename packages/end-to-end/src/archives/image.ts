import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { buildTar, paxRecord, type TarEntry } from "../kit/tar.ts";
import type { Entry } from "./contents.ts";
import { type Kind, type Making, STEP } from "./kind.ts";

const MIB = 1024 * 1024;
const STEP_ENTRY: TarEntry = { name: "step.yml", content: STEP };
const TYPES = { file: "0", symlink: "2", hard: "1", device: "3", pipe: "6", setuid: "0" } as const;

function toTar({ name, type = "file", content = "", target }: Entry): TarEntry {
  return {
    name,
    type: TYPES[type],
    content,
    target,
    ...(type === "setuid" ? { mode: 0o4755 } : {}),
  };
}

const digestOf = (data: Uint8Array): string => `sha256:${createHash("sha256").update(data).digest("hex")}`;

/** Serves an image of these layers on loopback, as a registry does. */
async function serve({ atEnd }: Making, layers: readonly Uint8Array[]): Promise<string> {
  const blobs = new Map<string, Uint8Array>();
  const add = (data: Uint8Array, mediaType: string): object => {
    blobs.set(digestOf(data), data);
    return { mediaType, digest: digestOf(data), size: data.length };
  };
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType,
    config: add(Buffer.from("{}"), "application/vnd.oci.image.config.v1+json"),
    layers: layers.map((layer) => add(layer, "application/vnd.oci.image.layer.v1.tar+gzip")),
  });
  const server = createServer((request, response) => {
    const [, kind, reference = ""] = /\/(manifests|blobs)\/([^?]+)/.exec(request.url ?? "") ?? [];
    const blob = blobs.get(reference);
    if (kind === "manifests") {
      response.setHeader("content-type", mediaType).setHeader("docker-content-digest", digestOf(Buffer.from(manifest)));
      response.end(manifest);
    } else if (kind === "blobs" && blob !== undefined) response.end(blob);
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `oci://127.0.0.1:${(server.address() as AddressInfo).port}/group/evil:x`;
}

const layer = (...list: TarEntry[]): Buffer => gzipSync(buildTar(list));
const layers =
  (...lists: TarEntry[][]) =>
  (making: Making): Promise<string> =>
    serve(
      making,
      [[STEP_ENTRY], ...lists].map((list) => layer(...list)),
    );

export const IMAGE: Kind = {
  name: "image",
  make: (list, making) => serve(making, [layer(STEP_ENTRY), layer(...list.map(toTar))]),
  specials: {
    "no archive": (making) => serve(making, [making.random.bytes(5000)]),
    "no tar in it": (making) => serve(making, [gzipSync(making.random.bytes(5000))]),
    "cut off": (making) => {
      const data = layer(STEP_ENTRY, { name: "x", content: making.random.bytes(3000) });
      return serve(making, [data.subarray(0, making.random.int(1, data.length - 1))]);
    },
    "packed twice": (making) => serve(making, [gzipSync(layer(STEP_ENTRY))]),
    "a name in a pax header": (making) =>
      layers([
        { name: "x", type: "x", content: paxRecord("path", `../${making.places.mark}`) },
        { name: "fine", content: "x" },
      ])(making),
    "a target in a pax header": (making) =>
      layers([
        { name: "x", type: "x", content: paxRecord("linkpath", `${making.places.outside}/x`) },
        { name: "l", type: "2", target: "fine" },
      ])(making),
    "a pax header for all": (making) =>
      layers([
        { name: "x", type: "g", content: paxRecord("path", `../${making.places.mark}`) },
        { name: "fine", content: "x" },
      ])(making),
    "a pax header that lies about its length": layers([
      { name: "x", type: "x", content: "99999999 path=x\n" },
      { name: "fine" },
    ]),
    "a pax header of 100 MiB": (making) =>
      serve(making, [
        layer(STEP_ENTRY, { name: "x", type: "x", content: Buffer.alloc(100 * MIB, "1") }, { name: "fine" }),
      ]),
    "a size below nothing": layers([{ name: "x", size: Buffer.alloc(12, 0xff) }]),
    "a size of many GiB": layers([{ name: "x", size: Buffer.from("77777777777\0") }]),
    "a size that is no number": layers([{ name: "x", size: Buffer.from("not octal!!\0") }]),
    "an unknown type": layers([{ name: "x", type: "Z", content: "x" }]),
    "a sparse file": layers([{ name: "x", type: "S", content: "x" }]),
    "a whiteout of the folder above": layers([{ name: ".wh..." }]),
    "a whiteout of nothing": layers([{ name: ".wh." }]),
    "a whiteout through a link": (making) =>
      layers([{ name: "l", type: "2", target: making.places.outside }], [{ name: "l/.wh.kept" }])(making),
    "a link in one layer, a file through it in the next": (making) =>
      layers([{ name: "l", type: "2", target: "/.." }], [{ name: `l/${making.places.mark}`, content: "x" }])(making),
    "a hard link across layers": layers(
      [{ name: "a", type: "2", target: "/etc/passwd" }],
      [{ name: "b", type: "1", target: "a" }],
    ),
    "a bomb in one file": (making) =>
      serve(making, [layer(STEP_ENTRY, { name: "x", content: Buffer.alloc(300 * MIB) })]),
    "25,000 files": (making) =>
      serve(making, [layer(STEP_ENTRY, ...Array.from({ length: 25_000 }, (_, n) => ({ name: `x${n}` })))]),
    "200 layers": (making) =>
      serve(
        making,
        Array.from({ length: 200 }, (_, n) => layer(STEP_ENTRY, { name: `x${n}` })),
      ),
  },
};
