import type { Step_ReferenceJson } from "../gen/step-json.ts";
import { publicUrl } from "./public-url.ts";
import type { ReferenceProblem } from "./reference-problem.ts";

/** The scheme at the beginning of a URL, with its colon and slashes. */
export const SCHEME: RegExp = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//;

/** Splits `a/b/x.yml` into the folder and the file; without a `.yml` or `.yaml` end all of it is the folder. */
export function splitFile<Key extends "path" | "dir">(
  text: string,
  key: Key,
): { readonly file?: string } & { readonly [K in Key]: string } {
  const parts = text.split("/").filter((part) => part !== "");
  const last = parts.at(-1) ?? "";
  const isFile = /\.ya?ml$/i.test(last);
  const folder = isFile ? parts.slice(0, -1) : parts;
  let dir = folder.join("/");
  if (key === "path" && text.startsWith("/")) dir = `/${dir}`;
  if (key === "dir") dir = folder.filter((part) => part !== ".").join("/");
  if (key === "path" && dir === "" && isFile) dir = ".";
  const found = { [key]: dir, ...(isFile ? { file: last } : {}) };
  return found as { readonly file?: string } & { readonly [K in Key]: string };
}

/** The path of a file in a folder, either of which may be missing. */
export function joinPath(dir: string, file: string | undefined): string {
  if (file === undefined) return dir;
  if (dir === "") return file;
  return dir.endsWith("/") ? `${dir}${file}` : `${dir}/${file}`;
}

/** The problem with a folder that climbs out of its component, or `undefined`. */
export function unsafePath(dir: string): ReferenceProblem | undefined {
  return dir.split("/").includes("..") ? { message: `The path leaves the component: "${dir}"` } : undefined;
}

/** The problem with a place in a component, or `undefined`. `isFile` says which of the two parts has it. */
export function pathProblem(
  dir: string,
  file: string | undefined,
): (ReferenceProblem & { readonly isFile: boolean }) | undefined {
  if (/[\u0000-\u001f\u007f]/.test(dir)) return { message: "The path holds a control character", isFile: false };
  const unsafe = unsafePath(dir);
  if (unsafe !== undefined) return { ...unsafe, isFile: false };
  if (file !== undefined && (/[/\u0000-\u001f\u007f]/.test(file) || ["", ".", ".."].includes(file))) {
    return { message: `The file is not a file name: "${file}"`, hint: "Folders go into dir:.", isFile: true };
  }
  return undefined;
}

/** The fields of a baseline message for a place in a component. */
export function encodePlace(dir: string, file: string | undefined): Pick<Step_ReferenceJson, "paths" | "filename"> {
  return {
    ...(dir === "" ? {} : { paths: { parts: dir.split("/") } }),
    ...(file ? { filename: file } : {}),
  };
}

/** The last part of a path that names something; `undefined` if none does. */
export function lastPart(path: string): string | undefined {
  return path.split("/").findLast((part) => part !== "" && part !== "." && part !== "..");
}

/** A name for a step that lies in a folder of what a URL names: the folder's, or the archive's or repository's own. */
export function titleOf(url: string, dir: string): string | undefined {
  const folder = lastPart(dir);
  const named = folder === undefined || folder === "steps" ? lastPart(url.replace(/[?#].*$/, "")) : folder;
  return named?.replace(/\.(?:git|zip)$/i, "");
}

/**
 * The location of a component by its URL: without credentials and fragment, the host in lower case, no slash at the end.
 * A path is its own location.
 */
export function componentLocation(text: string): string {
  if (!URL.canParse(text)) return publicUrl(text);
  const url = new URL(text);
  url.username = "";
  url.password = "";
  url.hash = "";
  url.pathname = url.pathname.replace(/\/+$/, "") || "/";
  return publicUrl(url.href);
}
