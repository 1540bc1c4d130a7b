import { targetFlags, type TargetOptions } from "./target-flags.ts";

type Given = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** A command about a job of a target, as it is typed into a shell. The token is not in it, which is known here or was given. */
export function jobCommand(name: "follow" | "cancel", id: string, options: TargetOptions): string {
  const given: Given = options;
  const flags = Object.entries(targetFlags).flatMap(([name, { env }]) => {
    const value = given[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    const isInherited = env !== undefined && value === process.env[env];
    if (value === undefined || value === false || isInherited) return [];
    if (value === true) return [`--${name}`];
    return (typeof value === "string" ? [value] : value).flatMap((text) => [`--${name}`, quote(text)]);
  });
  return ["runner-bridge", name, quote(id), ...flags].join(" ");
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
