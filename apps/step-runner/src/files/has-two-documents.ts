import type { Source } from "@steps/model/diagnostic";

/** Whether a text of YAML has a spec before its definition; the line that begins the first document does not count. */
export function hasTwoDocuments({ text }: Source): boolean {
  return /^---(?:\s|$)/m.test(text.replace(/^(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*\n)*---[^\n]*/, ""));
}
