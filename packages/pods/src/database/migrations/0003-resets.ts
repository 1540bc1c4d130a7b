/** Version 3: what makes the same new token of an old one again. */
export const RESETS: readonly string[] = [`ALTER TABLE runners ADD reset_secret text`];
