/**
 * The host names that GitLab makes of the name of a service's image: without registry's port, tag and digest, with `__` and then
 * with `-` for each slash. `registry.example.com:5000/group/postgres:16` is found as `registry.example.com__group__postgres` and
 * `registry.example.com-group-postgres`.
 */
export function hostNamesOf(image: string): readonly string[] {
  const [name = ""] = image.split("@");
  const parts = name.split("/");
  // The port of a registry and the tag both begin with a colon, each in a part of its own.
  const path = parts.map((part) => part.split(":")[0] ?? "").filter((part) => part !== "");
  return [...new Set([path.join("__"), path.join("-")])].filter((host) => host !== "");
}

/** Reads the texts of `alias`: names that blanks or commas separate. */
export function aliasesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((alias) => alias !== "");
}
