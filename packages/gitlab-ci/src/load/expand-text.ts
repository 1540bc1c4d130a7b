const VARIABLE = /\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|%([A-Za-z_][A-Za-z0-9_]*)%/g;

/**
 * Puts the values of variables in the place of `$NAME`, `${NAME}` and `%NAME%`, once, as GitLab does while it reads files.
 * `lookUp` gives what to put there; for `undefined` the text is left as it stands.
 */
export function expandText(text: string, lookUp: (name: string) => string | undefined): string {
  return text.replaceAll(VARIABLE, (source, ...names: unknown[]) => {
    const name = (names[0] ?? names[1] ?? names[2]) as string;
    return lookUp(name) ?? source;
  });
}
