import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { awaitServices } from "./await-services.ts";
import { giveTo, openToAll } from "./hand-over.ts";

let root = "";

beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "steps-hand-over-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  root = dir;
});

const mode = (path: string): string => (lstatSync(join(root, path)).mode & 0o777).toString(8);

test("openToAll() lets everybody write in folders and read files, and does not follow links", async () => {
  mkdirSync(join(root, "a"), { mode: 0o700 });
  writeFileSync(join(root, "a/file"), "", { mode: 0o600 });
  writeFileSync(join(root, "outside"), "", { mode: 0o600 });
  symlinkSync("../outside", join(root, "a/link"));
  expect(await openToAll([join(root, "a"), join(root, "missing")])).toEqual([]);
  expect([mode("a"), mode("a/file"), mode("outside")]).toEqual(["777", "644", "600"]);
});

test.skipIf(process.getuid?.() !== 0)(
  "giveTo() gives folders with all in them, and links instead of what they lead to",
  async () => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    writeFileSync(join(root, "outside"), "");
    symlinkSync("../outside", join(root, "a/link"));
    expect(await giveTo({ uid: 77, gid: 78 }, [join(root, "a")])).toEqual([]);
    const owner = (path: string): number => lstatSync(join(root, path)).uid;
    expect([owner("a"), owner("a/b"), owner("a/link"), owner("outside")]).toEqual([77, 77, 77, 0]);
  },
);

test("giveTo() tells what it may not do", () => {
  chmodSync(root, 0o755);
  const script = `
    import { giveTo } from ${JSON.stringify(join(import.meta.dirname, "hand-over.ts"))};
    console.log(JSON.stringify(await giveTo({ uid: 1, gid: 1 }, [${JSON.stringify(root)}])));`;
  const nobody = process.getuid?.() === 0 ? { uid: 12345, gid: 12345 } : {};
  const said = execFileSync(
    process.execPath,
    ["--conditions=steps-source", "--no-warnings", "--input-type=module", "--eval", script],
    { ...nobody, cwd: "/", encoding: "utf8" },
  );
  expect(JSON.parse(said)).toEqual([expect.stringContaining("EPERM")]);
});

describe("awaitServices()", () => {
  test("waits until one port of each accepts a connection, and names those that never do", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const services = [
      { name: "there", host: "127.0.0.1", ports: [1, port] },
      { name: "gone", host: "no-such-host.invalid", ports: [port] },
    ];
    expect(await awaitServices(services, 60_000)).toEqual(["gone"]);
  });

  test("ends when the time is over", async () => {
    expect(await awaitServices([{ name: "mute", host: "127.0.0.1", ports: [1] }], 200)).toEqual(["mute"]);
  });
});
