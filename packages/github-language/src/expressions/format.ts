import { type Budget, spendEffort, spendText } from "./budget.ts";
import { Failure } from "./error.ts";

/**
 * `format()`: replaces `{0}`, `{1}` by arguments; `{{` and `}}` are braces.
 *
 * @param argument gives the text of an argument, `undefined` where there are fewer
 * @throws {Failure} INVALID_ARGUMENT
 */
export function formatText(text: string, argument: (index: number) => string | undefined, budget: Budget): string {
  spendEffort(budget, text.length);
  const pieces: string[] = [];
  let done = 0;
  const push = (piece: string): void => {
    spendText(budget, piece.length);
    pieces.push(piece);
  };
  for (const special of text.matchAll(/[{}]/g)) {
    if (special.index < done) continue;
    if (special.index > done) push(text.slice(done, special.index));
    const hit = readSpecial(text, special.index);
    push(typeof hit.value === "string" ? hit.value : argumentText(hit.value, argument));
    done = hit.end;
  }
  if (done < text.length) push(text.slice(done));
  return pieces.join("");
}

function readSpecial(text: string, start: number): { value: string | number; end: number } {
  const brace = text.charAt(start);
  if (text.charAt(start + 1) === brace) return { value: brace, end: start + 2 };
  const digits = brace === "{" ? /\d+/y : undefined;
  if (digits === undefined) throw invalid();
  digits.lastIndex = start + 1;
  const index = digits.exec(text)?.[0];
  if (index === undefined || index.length > 20 || Number(index) > 255) throw invalid();
  const end = start + 1 + index.length;
  if (text.charAt(end) === "}") return { value: Number(index), end: end + 1 };
  // .NET allows a format after the colon. Values of expressions have no formats, so only the empty one is accepted.
  if (text.charAt(end) === ":" && text.charAt(end + 1) === "}" && text.charAt(end + 2) !== "}") {
    return { value: Number(index), end: end + 2 };
  }
  throw invalid();
}

function argumentText(index: number, argument: (index: number) => string | undefined): string {
  const value = argument(index);
  if (value !== undefined) return value;
  throw new Failure("INVALID_ARGUMENT", `The text of "format" names "{${index}}"; there are fewer arguments`);
}

// The text itself is not shown: it may hold the value of a secret.
function invalid(): Failure {
  const hint = "It may hold {0}, {1} and so on; a brace of its own is doubled";
  return new Failure("INVALID_ARGUMENT", 'The text of "format" is malformed', { hint });
}
