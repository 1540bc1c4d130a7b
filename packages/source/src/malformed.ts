import type { Source } from "@steps/model/diagnostic";
import { describeMalformed } from "@steps/model/utf8";
import type { Report } from "./report.ts";

/** Reports bytes that are no UTF-8: what is read instead of them would be something that nobody wrote. Whether there are any. */
export function reportMalformed(source: Source, report: Report): boolean {
  const { malformed } = source;
  if (malformed === undefined) return false;
  report.error(
    { source, offset: malformed.offset, length: 1 },
    { code: "invalid-character", message: describeMalformed(malformed), hint: "Save the file as UTF-8." },
  );
  return true;
}
