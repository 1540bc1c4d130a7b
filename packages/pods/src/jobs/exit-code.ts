const MAX = 2 ** 31 - 1;

/**
 * An exit code as it is kept and compared. Windows has codes of 32 bits without a sign, such as 3221225477 of a program that reached for
 * memory that is not its own; with a sign the same bits are -1073741819. Further numbers become the last one that can be kept.
 */
export function exitCodeOf(code: number): number {
  const signed = code > MAX && code <= 2 ** 32 - 1 ? code - 2 ** 32 : code;
  return Math.max(-MAX - 1, Math.min(MAX, signed));
}
