import { appendFileSync } from "node:fs";
import { type Command, defineCommand, flag, UsageError } from "@steps/console";
import { encodeOutput } from "@steps/executor";
import { readText } from "../files/read-source.ts";

/** A command with which a step writes to a file that the runner reads when it has ended. */
export function setValueCommand(about: {
  readonly name: string;
  readonly summary: string;
  /** The environment variable that names the file, and the expression that does. */
  readonly variable: string;
  readonly expression: string;
  readonly examples: Command["examples"];
}) {
  const { name, summary, variable, expression, examples } = about;
  return defineCommand({
    name,
    summary,
    usage: "NAME VALUE|- [flags]",
    description: [
      `For the script of a step, so that nothing has to be quoted as JSON. The file is that of ${variable}, which every script has; ` +
        `other commands are given it with env: {${variable}: "\${{ ${expression} }}"}. With - the value is standard input, without its last line feed.`,
    ],
    flags: {
      file: flag.text({ placeholder: "FILE", summary: "The file to add it to", env: variable }),
      sensitive: flag.boolean({ summary: "The value is secret: only what is marked for secrets takes it" }),
      json: flag.boolean({ summary: "VALUE is a value in JSON: a number, a list, an object" }),
    },
    positionals: { min: 2, max: 2 },
    examples,
    async run({ file, json, sensitive }, [outputName = "", given = ""]) {
      if (file === undefined)
        throw new UsageError(`${variable} is not set`, "Call it in a step, or name a file with --file.");
      const text = given === "-" ? readText("-").replace(/\r?\n$/, "") : given;
      appendFileSync(file, encodeOutput(outputName, text, { isJson: json, isSensitive: sensitive }));
      return 0;
    },
  });
}
