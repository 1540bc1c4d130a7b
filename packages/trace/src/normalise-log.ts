// Order matters: escapes first, since they hide the rest; times before numbers with units. All are linear: each
// quantifier is bounded or is over a class that what follows it does not begin with.
const RULES: readonly (readonly [RegExp, string])[] = [
  // CSI, OSC and two-byte escape sequences.
  [/\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]/g, ""],
  [/\u001b\][^\u0007\u001b\n]{0,1024}(?:\u0007|\u001b\\)/g, ""],
  [/\u001b[@-_]/g, ""],
  [/\r\n/g, "\n"],
  // Text that a progress bar overwrote.
  [/^.{0,4096}\r(?!\n)/gm, ""],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?/g, "<time>"],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? \d{0,2} ?[A-Z][a-z]{2} {1,2}\d{1,4} \d\d:\d\d:\d\d(?: [A-Z]{2,5})?(?: \d{4})?/g,
    "<time>",
  ],
  [/\b\d{4}[-/]\d\d[-/]\d\d\b/g, "<date>"],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, "<time>"],
  [/\b0x[0-9a-fA-F]{5,16}\b/g, "<address>"],
  [/(?:\/private)?\/(?:var\/)?tmp\/[\w.@+-]{1,255}/g, "<tmp>"],
  [/\/var\/folders\/[\w./+-]{1,255}/g, "<tmp>"],
  [
    /\b\d{1,12}(?:\.\d{1,12})? ?(?:nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|secs?|mins?|ns|µs|us|ms|s|m|h)(?![\w])/g,
    "<duration>",
  ],
  [/<duration>(?: ?<duration>){1,4}/g, "<duration>"],
];

/**
 * A log without what differs between two equal runs: terminal escapes, overwritten lines, times of day, dates, durations,
 * addresses in memory and names of temporary files.
 */
export function normaliseLog(text: string): string {
  let result = text;
  for (const [pattern, replacement] of RULES) result = result.replace(pattern, replacement);
  return result;
}
