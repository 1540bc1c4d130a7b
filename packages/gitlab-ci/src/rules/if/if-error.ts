/** The mistake that makes a text no condition, with the piece of the text that it is about. */
export class IfError extends Error {
  /** UTF-16 units from the start of the condition. */
  readonly offset: number;
  /** UTF-16 units; 0 at the end of the condition. */
  readonly length: number;
  /** A sentence that says what to write instead; absent when the message says it all. */
  readonly hint: string | undefined;

  constructor(message: string, at: { readonly offset: number; readonly length: number }, hint?: string) {
    super(message);
    this.name = "IfError";
    this.offset = at.offset;
    this.length = at.length;
    this.hint = hint;
  }
}
