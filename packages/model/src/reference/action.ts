import { type ActionReference, formatAction, parseActionReference } from "./action-reference.ts";
import type { ReferenceKind } from "./kind.ts";
import { lastPart } from "./paths.ts";

/** GitHub's actions are named by a key of their own, so they have no short form. Their files come as a git component. */
export const action: ReferenceKind<ActionReference> = {
  protocol: 100,
  format: (reference) => formatAction(reference),
  encode: (reference) => ({ url: formatAction(reference) }),
  decode: ({ url = "" }) => parseActionReference(url),
  problem: () => undefined,
  title: (reference) => lastPart(formatAction(reference).replace(/[@:].*$/, "")) ?? "action",
};
