/** A block of JavaScript in a guide, and the block of text behind it: what it prints. */
export interface Example {
  readonly code: string;
  readonly output: string;
}

/** The examples of a Markdown text: each `js` block that a `text` block follows, with nothing but words between them. */
export function readExamples(markdown: string): readonly Example[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
  return blocks.flatMap(({ language, text }, i) => {
    const next = blocks[i + 1];
    return language === "js" && next?.language === "text" ? [{ code: text, output: next.text }] : [];
  });
}
