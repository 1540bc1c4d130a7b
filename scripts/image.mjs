// Makes the container image of step-runner for this kind of machine: node scripts/image.mjs [--base ROOTFS.tar] [--tag NAME] FILE
// FILE becomes an image layout of OCI in a tar archive: docker load, podman load and skopeo read it. It holds what `bootstrap` makes,
// and what lies in ROOTFS.tar below that: with a shell, git and what else steps want. The same inputs give the same bytes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { ownTarget, packedPath } from "./pack.mjs";
import { repositoryUrl } from "./repository.mjs";

const self = fileURLToPath(import.meta.url);
const root = resolve(self, "../..");
const USER = 1000;
const SOCKET = "/run/step-runner/step-runner.sock";
const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

/** Makes the image and gives its facts. @throws {Error} where the executable is missing or a program fails */
export function makeImage({ file, base, tag = "step-runner", version, revision = "", created }) {
  const work = mkdtempSync(join(tmpdir(), "steps-image-"));
  try {
    const layers = [...(base === undefined ? [] : [baseLayer(work, base)]), programLayer(work, created)];
    const layout = writeLayout(work, { layers, tag, version, revision, created });
    tar(work, ["--create", "--file", resolve(file), "-C", layout, "."], created);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The files of the image that are ours: those of root, then those of the user, in one archive. */
function programLayer(work, created) {
  const own = join(work, "root");
  const bin = join(own, "usr/local/bin");
  const share = join(own, "usr/share/doc/step-runner");
  for (const folder of [bin, share, join(own, "etc")]) mkdirSync(folder, { recursive: true });
  call(packedPath(ownTarget()), ["steps", "bootstrap", join(bin, "step-runner")]);
  cpSync(join(root, "LICENSE"), join(share, "LICENSE"));
  cpSync(join(root, "apps/step-runner/dist/third-party.txt"), join(share, "third-party.txt"));
  writeFileSync(
    join(own, "etc/passwd"),
    `root:x:0:0:root:/:/sbin/nologin\nsteps:x:${USER}:${USER}:steps:/home/steps:/sbin/nologin\n`,
  );
  writeFileSync(join(own, "etc/group"), `root:x:0:\nsteps:x:${USER}:\n`);
  const ofUser = join(work, "user");
  for (const folder of ["home/steps", "work", "run/step-runner"]) mkdirSync(join(ofUser, folder), { recursive: true });
  mkdirSync(join(work, "open/tmp"), { recursive: true });
  const layer = join(work, "program.tar");
  tar(work, ["--create", "--file", layer, "--owner=0", "--group=0", "--mode=u=rwX,go=rX", "-C", own, "."], created);
  const mine = [`--owner=${USER}`, `--group=${USER}`, "--mode=0750"];
  tar(work, ["--append", "--file", layer, ...mine, "-C", ofUser, "home/steps", "work", "run/step-runner"], created);
  tar(
    work,
    ["--append", "--file", layer, "--owner=0", "--group=0", "--mode=1777", "-C", join(work, "open"), "tmp"],
    created,
  );
  return layer;
}

/** A root file system from elsewhere, plain or packed by gzip, as a layer. */
function baseLayer(work, base) {
  const bytes = readFileSync(base);
  const layer = join(work, "base.tar");
  writeFileSync(
    layer,
    bytes[0] === 0x1f && bytes[1] === 0x8b
      ? spawnSync("gzip", ["-dc", base], { maxBuffer: 2 ** 31 - 1 }).stdout
      : bytes,
  );
  return layer;
}

function writeLayout(work, { layers, tag, version, revision, created }) {
  const layout = join(work, "layout");
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
  const put = (bytes, mediaType) => {
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(layout, "blobs/sha256", hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const putJson = (value, mediaType) => put(Buffer.from(JSON.stringify(value)), mediaType);
  const diffs = layers.map((layer) => `sha256:${createHash("sha256").update(readFileSync(layer)).digest("hex")}`);
  const packed = layers.map((layer) => {
    const { stdout } = spawnSync("gzip", ["-nc", layer], { maxBuffer: 2 ** 31 - 1 });
    return put(stdout, "application/vnd.oci.image.layer.v1.tar+gzip");
  });
  const architecture = ARCHITECTURES[process.arch];
  const config = putJson(
    {
      architecture,
      os: "linux",
      created,
      config: settings({ version, revision, created }),
      rootfs: { type: "layers", diff_ids: diffs },
    },
    "application/vnd.oci.image.config.v1+json",
  );
  const manifestType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = putJson({ schemaVersion: 2, mediaType: manifestType, config, layers: packed }, manifestType);
  const annotations = { "io.containerd.image.name": `${tag}:${version}`, "org.opencontainers.image.ref.name": version };
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, platform: { architecture, os: "linux" }, annotations }],
  };
  writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  // Docker's own list, without which its older stores take no layout of OCI.
  const pathOf = ({ digest }) => `blobs/${digest.replace(":", "/")}`;
  const list = [{ Config: pathOf(config), RepoTags: [`${tag}:${version}`], Layers: packed.map(pathOf) }];
  writeFileSync(join(layout, "manifest.json"), JSON.stringify(list));
  writeFileSync(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  return layout;
}

function settings({ version, revision, created }) {
  const source = repositoryUrl();
  const program = "/usr/local/bin/step-runner";
  return {
    User: `${USER}:${USER}`,
    WorkingDir: "/work",
    Env: [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "HOME=/home/steps",
      `STEP_RUNNER_SOCKET=${SOCKET}`,
    ],
    Entrypoint: [program],
    Cmd: ["serve"],
    StopSignal: "SIGTERM",
    // Docker's own, which other engines leave aside.
    Healthcheck: {
      Test: ["CMD", program, "proxy", "--check"],
      Interval: 10e9,
      Timeout: 5e9,
      Retries: 3,
    },
    Labels: {
      "org.opencontainers.image.title": "step-runner",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.revision": revision,
      "org.opencontainers.image.created": created,
      "org.opencontainers.image.licenses": "MIT",
      ...(source && { "org.opencontainers.image.source": source }),
    },
  };
}

function tar(cwd, args, created) {
  call("tar", ["--sort=name", "--format=gnu", "--numeric-owner", `--mtime=${created}`, ...args], cwd);
}

function call(program, args, cwd = root) {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${error?.message ?? stderr}`);
}

if (process.argv[1] === self) {
  const { values, positionals } = parseArgs({
    options: { base: { type: "string" }, tag: { type: "string" } },
    allowPositionals: true,
  });
  const { factsOfRelease } = await import("./release-facts.mjs");
  if (positionals.length !== 1) {
    process.stderr.write("usage: node scripts/image.mjs [--base ROOTFS.tar] [--tag NAME] FILE\n");
    process.exit(2);
  }
  makeImage({ ...factsOfRelease(), ...values, file: positionals[0] });
  process.stdout.write(`${positionals[0]}\n`);
}
