import { createInterface } from "node:readline/promises";

/** Asks on the terminal; an empty line stands for the answer in brackets. */
export async function askTexts<Name extends string>(
  questions: Readonly<Record<Name, { readonly question: string; readonly answer: string }>>,
): Promise<Record<Name, string>> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answers: [string, string][] = [];
    for (const [name, { question, answer }] of Object.entries<{ question: string; answer: string }>(questions)) {
      const text = (await terminal.question(`${question}${answer === "" ? "" : ` [${answer}]`}: `)).trim();
      answers.push([name, text === "" ? answer : text]);
    }
    return Object.fromEntries(answers) as Record<Name, string>;
  } finally {
    terminal.close();
  }
}
