/** Text of a manual page: what the formatter would take for a command of its own is written so that it is text. */
export function roffText(text: string): string {
  return text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll(
      /[^ -~\n]/gu,
      (sign) => `\\[u${(sign.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replaceAll(/^(?=[.'])/gm, String.raw`\&`);
}

/** Words in bold. */
export function bold(text: string): string {
  return String.raw`\fB${roffText(text)}\fR`;
}

/** Words that stand for others. */
export function italic(text: string): string {
  return String.raw`\fI${roffText(text)}\fR`;
}

/** A section with its lines. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`.SH ${roffText(title.toUpperCase())}`, ...lines];
}

/** A term with its description. */
export function term(title: string, text: string): readonly string[] {
  return [".TP", title, roffText(text)];
}

/** The first line of a page of section 1. */
export function titleLine(name: string, source: string, manual: string): string {
  return `.TH "${roffText(name.toUpperCase())}" "1" "" "${roffText(source)}" "${roffText(manual)}"`;
}
