import { complain } from "@steps/console/terminal";

/** The effect that a keyword would have elsewhere, where its name alone does not tell. */
const WHY: Readonly<Record<string, string>> = {
  environment: "nothing is deployed",
  pages: "nothing is published",
};

/** Says in one line which keywords of a CI file have no effect here; nothing where all have. */
export function tellIgnored(keywords: readonly string[]): void {
  if (keywords.length === 0) return;
  const shown = keywords.map((keyword) => (Object.hasOwn(WHY, keyword) ? `${keyword} (${WHY[keyword]})` : keyword));
  complain(`Without effect on this machine: ${shown.join(", ")}`);
}
