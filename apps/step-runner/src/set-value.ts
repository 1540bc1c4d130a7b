import { appendFileSync } from "node:fs";
import { type Command, type CommandLine, UsageError } from "@steps/console";
import { encodeOutput } from "@steps/executor";
import { readText } from "./read-source.ts";

/** A command with which a step writes to a file that the runner reads when it has ended. */
export function setValueCommand(about: {
  readonly name: string;
  readonly summary: string;
  /** The environment variable that names the file, and the expression that does. */
  readonly variable: string;
  readonly expression: string;
  readonly examples: Command["examples"];
}): Command {
  const { name, summary, variable, expression, examples } = about;
  return {
    name,
    summary,
    usage: "NAME VALUE|- [flags]",
    description: [
      `For the script of a step, so that nothing has to be quoted as JSON. The file is that of ${variable}, which every script has; ` +
        `other commands are given it with env: {${variable}: "\${{ ${expression} }}"}. With - the value is standard input, without its last line feed.`,
    ],
    flags: {
      file: { type: "string", placeholder: "FILE", summary: "The file to add it to", env: variable },
      sensitive: { type: "boolean", summary: "The value is secret: only what is marked for secrets takes it" },
      json: { type: "boolean", summary: "VALUE is a value in JSON: a number, a list, an object" },
    },
    positionals: { min: 2, max: 2 },
    examples,
    run: async (line) => run(line, variable),
  };
}

function run(line: CommandLine, variable: string): number {
  const file = line.string("file");
  if (file === undefined)
    throw new UsageError(`${variable} is not set`, "Call it in a step, or name a file with --file.");
  const [name = "", given = ""] = line.positionals;
  const text = given === "-" ? readText("-").replace(/\r?\n$/, "") : given;
  appendFileSync(
    file,
    encodeOutput(name, text, { isJson: line.boolean("json"), isSensitive: line.boolean("sensitive") }),
  );
  return 0;
}
