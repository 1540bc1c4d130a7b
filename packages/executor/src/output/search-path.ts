/**
 * The folders in which programs of the system are looked for. An empty part of a PATH would be the current folder, which is
 * the job's.
 */
export function searchPath(): string {
  const folders = (process.env["PATH"] ?? "").split(":").filter((folder) => folder !== "");
  return [...folders, "/usr/bin", "/bin"].join(":");
}
