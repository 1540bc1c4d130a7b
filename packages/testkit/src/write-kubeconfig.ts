import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

/** Writes a kubeconfig for a server and gives its path. */
export async function writeKubeconfig(
  server: { url: string },
  user: object = {},
  cluster: object = {},
): Promise<string> {
  const path = join(tempDir(), "config");
  const config = {
    "current-context": "test",
    clusters: [{ name: "c", cluster: { server: server.url, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
