import { type DescribedTable, describeKeys } from "@steps/source/keys";
import { ref } from "../../keys/shapes.ts";
import { git } from "./git.ts";
import type { LongForm } from "./long-form.ts";
import { oci } from "./oci.ts";
import { zip } from "./zip.ts";

/** The kinds of references that have a long form, by the key that holds it. */
export const LONG_FORMS: Readonly<Record<string, LongForm>> = { git, zip, oci };

/** The long form of a reference: a mapping with the one key that says its kind. */
export const REFERENCE_KEYS: DescribedTable = describeKeys({
  what: "a reference",
  keys: Object.fromEntries(Object.entries(LONG_FORMS).map(([kind, { about }]) => [kind, { about, shape: ref(kind) }])),
  oneOf: Object.keys(LONG_FORMS),
});
