/** A block of JavaScript in a guide, and the output that the session behind it shows. */
export interface Example {
  readonly code: string;
  readonly output: string;
}

/** The examples of a Markdown text: each `js` block before a session that runs it, with nothing but words between them. */
export function readExamples(markdown: string): readonly Example[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
  return blocks.flatMap(({ language, text }, i) => {
    const next = blocks[i + 1];
    const output =
      language === "js" && next?.language === "console" ? /^\$ node \S+\n([^]*)$/.exec(next.text)?.[1] : undefined;
    return output === undefined ? [] : [{ code: text, output }];
  });
}
