/** The version of the command; a test holds it to package.json. */
export const VERSION = "0.1.0";

/** Node's names of what Go calls otherwise. */
const GO_NAMES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le", win32: "windows" };

/**
 * Returns the output of `--version`. Under a name of GitLab's program it has the lines that GitLab's runner looks for.
 */
export function versionText(name: string): string {
  if (name === "step-runner") return `step-runner ${VERSION}\n`;
  const [os, arch] = [process.platform, process.arch].map((word) => GO_NAMES[word] ?? word);
  return [
    `Name:         ${name}`,
    `Version:      ${VERSION}`,
    `Git revision: step-runner-${VERSION}`,
    `OS/Arch:      ${os}/${arch}`,
    "",
  ].join("\n");
}
