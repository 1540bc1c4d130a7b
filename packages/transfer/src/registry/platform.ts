/** The platform of a manifest, in the words of the OCI image index. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: "amd64",
  x86_64: "amd64",
  "x86-64": "amd64",
  aarch64: "arm64",
  ia32: "386",
  i386: "386",
  i486: "386",
  i686: "386",
  armhf: "arm",
  armel: "arm",
  mipsel: "mipsle",
  ppc64: "ppc64le",
};

/** The platform that this process runs on. Node's `ppc64` is little-endian on Linux, the only one it is built for. */
export function runningPlatform(): Platform {
  const os = process.platform === "win32" ? "windows" : process.platform;
  return normalizePlatform({ os, architecture: process.arch });
}

/** One spelling of a platform for all that mean the same, by the rules of containerd. */
export function normalizePlatform({ os, architecture, variant = "" }: Platform): Platform {
  const given = architecture.toLowerCase();
  const name = ARCHITECTURES[given] ?? given;
  const base = { os: os.toLowerCase(), architecture: name };
  const bare = variant.toLowerCase().replace(/^v?(?=\d)/, "v");
  if (name === "arm") return { ...base, variant: bare === "" ? (given === "armel" ? "v6" : "v7") : bare };
  if ((name === "arm64" && bare === "v8") || (name === "amd64" && bare === "v1") || bare === "") return base;
  return { ...base, variant: bare };
}

/**
 * Returns the platforms whose programs run on a platform, the best first: itself, older variants, then files for every
 * platform.
 */
export function acceptablePlatforms(platform: Platform): Platform[] {
  const wanted = normalizePlatform(platform);
  const { os, architecture, variant } = wanted;
  const arm = (newest: number): Platform[] =>
    [8, 7, 6, 5]
      .filter((version) => version <= newest)
      .map((version) => ({ os, architecture: "arm", variant: `v${version}` }));
  if (architecture === "amd64") return [wanted, { os, architecture }, { os, architecture: "386" }];
  if (architecture === "arm64") return [wanted, { os, architecture }, ...arm(8)];
  if (architecture === "arm") return [wanted, ...arm(Number(variant?.slice(1) ?? 7))];
  return variant === undefined ? [wanted] : [wanted, { os, architecture }];
}

/** `linux/arm64/v8`. */
export function formatPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, ...(variant === undefined || variant === "" ? [] : [variant])].join("/");
}

/**
 * The first of what a platform accepts that is there; then what is for every platform (`generic`). Manifests without a
 * platform are chosen only when there is nothing else, and one alone.
 */
export function choosePlatform<T extends { readonly platform: Platform | undefined }>(
  manifests: readonly T[],
  platform: Platform,
): T | undefined {
  for (const wanted of acceptablePlatforms(platform)) {
    const found = manifests.find((manifest) => manifest.platform !== undefined && isSame(manifest.platform, wanted));
    if (found !== undefined) return found;
  }
  const generic = manifests.find((manifest) => manifest.platform?.os.toLowerCase() === "generic");
  if (generic !== undefined) return generic;
  return manifests.length === 1 && manifests[0]?.platform === undefined ? manifests[0] : undefined;
}

function isSame(found: Platform, wanted: Platform): boolean {
  const { os, architecture, variant } = normalizePlatform(found);
  return os === wanted.os && architecture === wanted.architecture && (variant ?? "") === (wanted.variant ?? "");
}
