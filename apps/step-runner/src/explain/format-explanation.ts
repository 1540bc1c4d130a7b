import type { Terminal } from "@steps/console/terminal";
import { printable } from "@steps/model/diagnostic";
import { shortDigest } from "@steps/model/digest";
import type {
  ExplainedAction,
  ExplainedDefinition,
  ExplainedInput,
  ExplainedItem,
  ExplainedOutput,
  Explanation,
} from "./describe-step.ts";

type Paint = Pick<Terminal, "width" | "bold" | "dim">;

/** An explanation for a person: as wide as the terminal, ends with a line end. */
export function formatExplanation(explanation: Explanation, paint: Paint): string {
  const { name, description, inputs, outputs, secrets, does, example } = explanation;
  const rows = [paint.bold(printable(name))];
  if (description !== undefined) rows.push(...wrap(description, paint.width, "  "));
  rows.push("", ...origin(explanation, paint));
  rows.push(
    "",
    paint.bold("Inputs"),
    ...ports(
      inputs.map((input) => [input, inputFacts(input)] as const),
      paint,
    ),
  );
  rows.push("", paint.bold("Outputs"), ...outputRows(outputs, paint));
  if (secrets.length > 0) {
    const entries = secrets.map((secret) => [secret, secretFacts(secret)] as const);
    rows.push("", paint.bold("Secrets"), ...ports(entries, paint));
  }
  rows.push("", paint.bold("Does"), ...definition(does, paint, "  "));
  rows.push(
    "",
    paint.bold("Example"),
    ...example.item
      .trimEnd()
      .split("\n")
      .map((row) => `  ${printable(row)}`),
  );
  rows.push("", `  ${printable(example.command)}`);
  return `${rows.join("\n")}\n`;
}

function origin({ reference, component, file, definitionDigest }: Explanation, paint: Paint): string[] {
  const facts: (readonly [string, string | undefined])[] = [["Reference", reference]];
  if (component === undefined) facts.push(["From", "this program"]);
  else {
    const { requestedVersion: wanted, resolvedVersion: found, downloadLocation, isCached } = component;
    const isSame = wanted === found || found === undefined;
    const version = wanted === undefined ? found : isSame ? wanted : `${wanted} (${found})`;
    const cached = component.kind === "local" ? "" : isCached ? ", from the cache" : ", fetched now";
    facts.push(["From", `${component.location} (${component.kind}${cached})`]);
    facts.push(["Fetched from", downloadLocation], ["Version", version]);
    for (const [kind, digest] of Object.entries(component.digest)) {
      if (digest !== found) facts.push([kind === "gitTree" ? "Tree" : kind, digest]);
    }
  }
  facts.push(["File", file], ["Definition", shortDigest(definitionDigest)]);
  const shown = facts.filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${paint.dim(label.padEnd(width))}  ${printable(value ?? "")}`);
}

interface Port {
  readonly name: string;
  readonly description?: string;
}

function ports(entries: readonly (readonly [Port, readonly string[]])[], paint: Paint): string[] {
  if (entries.length === 0) return ["  none"];
  const width = Math.min(24, Math.max(...entries.map(([{ name }]) => name.length)));
  const indent = " ".repeat(width + 4);
  return entries.flatMap(([{ name, description }, facts]) => [
    ...wrap(facts.join(", "), paint.width, indent).map((row, i) =>
      i === 0 ? `  ${printable(name).padEnd(width)}  ${row.trimStart()}` : row,
    ),
    ...(description === undefined ? [] : wrap(description, paint.width, indent).map(paint.dim)),
  ]);
}

function inputFacts({ type, isRequired, default: value, options, match, isSensitive }: ExplainedInput): string[] {
  return [
    type,
    isRequired ? "required" : value === null || value === undefined ? "optional" : `default ${JSON.stringify(value)}`,
    ...(options === undefined ? [] : [`one of ${options.map((option) => JSON.stringify(option)).join(" ")}`]),
    ...(match === undefined ? [] : [`matches ${match}`]),
    ...(isSensitive ? ["sensitive"] : []),
  ];
}

function secretFacts(secret: Explanation["secrets"][number]): string[] {
  return [
    secret.isRequired ? "required" : "optional",
    secret.as === "file" ? `the file that ${secret.env} names` : `the variable ${secret.env}`,
    ...(secret.permissions.length === 0 ? [] : [`has to allow ${secret.permissions.join(" ")}`]),
  ];
}

function outputRows(outputs: Explanation["outputs"], paint: Paint): string[] {
  if (outputs === "delegate") return ["  those of a step of its list"];
  if (outputs === "any") return ["  what it writes"];
  const facts = ({ type, default: value, isSensitive }: ExplainedOutput) => [
    type,
    ...(value === undefined ? [] : [`default ${JSON.stringify(value)}`]),
    ...(isSensitive ? ["sensitive"] : []),
  ];
  return ports(
    outputs.map((output) => [output, facts(output)] as const),
    paint,
  );
}

function definition(does: ExplainedDefinition, paint: Paint, indent: string): string[] {
  if (does.type === "exec" && does.action !== undefined) return actionRows(does.action, does.command, indent);
  if (does.type === "exec") {
    const where = does.workDir === undefined ? "" : ` in ${does.workDir}`;
    return wrap(`runs ${does.command.map((word) => JSON.stringify(word)).join(" ")}${where}`, paint.width, indent);
  }
  const { steps, isParallel, finally: last } = does;
  return [
    `${indent}${isParallel ? "runs all at once" : "runs in order"}`,
    ...steps.flatMap((step) => item(step, paint, `${indent}  `)),
    ...(last.length === 0 ? [] : [`${indent}and in any case`]),
    ...last.flatMap((step) => item(step, paint, `${indent}  `)),
  ];
}

function actionRows(action: ExplainedAction, command: readonly string[], indent: string): string[] {
  const { using, script, image, pre, post } = action;
  const before = pre === undefined ? [] : [`${indent}before the job's first step: ${printable(pre)}`];
  const after =
    post === undefined || using === "native" ? [] : [`${indent}after the job's last step: ${printable(post)}`];
  return [...before, ...mainRows(), ...after];

  function mainRows(): string[] {
    if (script !== undefined) {
      const lines = script
        .trimEnd()
        .split("\n")
        .map((line) => `${indent}  ${printable(line)}`);
      return [
        `${indent}a script for ${printable(command[0] === "{0}" ? "the default shell" : (command[0] ?? ""))}`,
        ...lines,
      ];
    }
    if (using === "native")
      return [`${indent}what actions/checkout does, for the job's own project: a program of the runner`];
    if (using === "docker") return [`${indent}in a container: ${printable(image ?? "")}`];
    return [`${indent}${printable(using)}: ${printable(command[1] ?? "")}`];
  }
}

function item({ name, reference, condition, does }: ExplainedItem, paint: Paint, indent: string): string[] {
  const label = name === "" ? "-" : name;
  const when = condition === undefined ? "" : paint.dim(` if ${printable(condition)}`);
  const head = `${indent}${printable(label)}${reference === undefined ? "" : `  ${printable(reference)}`}${when}`;
  return [head, ...(does === undefined ? [] : definition(does, paint, `${indent}  `))];
}

/** The words of a text in rows of a width; its own line ends are kept, and a word that is too long has a row of its own. */
function wrap(text: string, width: number, indent: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const rows: string[] = [];
      let row = "";
      for (const word of printable(line).split(" ")) {
        if (row !== "" && indent.length + row.length + word.length + 1 > width) {
          rows.push(indent + row);
          row = word;
        } else row = row === "" ? word : `${row} ${word}`;
      }
      return [...rows, indent + row];
    });
}
