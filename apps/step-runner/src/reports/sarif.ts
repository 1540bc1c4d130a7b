import { isAbsolute, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Diagnostic, printable } from "@steps/model/diagnostic";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { VERSION } from "../version.ts";
import type { Checked } from "./checked.ts";
import { type Region, regionOf } from "./region.ts";
import { ruleOf } from "./rules.ts";

/** The location of an artifact; relative to the root of the sources if it lies below it. */
interface ArtifactLocation {
  readonly uri: string;
  readonly uriBaseId?: "%SRCROOT%";
  readonly index?: number;
}

/** A log of SARIF 2.1.0 with one run, as far as we use it. */
export interface SarifLog {
  readonly $schema: string;
  readonly version: "2.1.0";
  readonly runs: readonly unknown[];
}

interface SarifOptions {
  /** Absolute: the root of the sources, `%SRCROOT%`. */
  readonly root: string;
  /** Tells whether the name of an artifact is the path of a file, rather than `STEPS` or a reference. */
  readonly isFile: (name: string) => boolean;
}

/** Turns the diagnostics into SARIF 2.1.0, for the code scanning of a forge or for an editor. */
export function toSarif(checked: readonly Checked[], options: SarifOptions): SarifLog {
  const found = checked.flatMap(({ name, diagnostics }) =>
    diagnostics.map((diagnostic) => ({ diagnostic, file: diagnostic.position?.source.name ?? name })),
  );
  const files = [...new Set([...checked.map(({ name }) => name), ...found.map(({ file }) => file)])];
  const codes = [...new Set(found.map(({ diagnostic }) => diagnostic.code))].toSorted();
  const results = found.map(({ diagnostic, file }) => ({
    ruleId: diagnostic.code,
    ruleIndex: codes.indexOf(diagnostic.code),
    level: diagnostic.severity,
    message: { text: messageOf(diagnostic) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { ...locationOf(file, options), index: files.indexOf(file) },
          ...regionMember(diagnostic),
        },
      },
    ],
  }));
  const hasErrors = found.some(({ diagnostic }) => diagnostic.severity === "error");
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "step-runner", semanticVersion: VERSION, rules: codes.map(rule) } },
        columnKind: "utf16CodeUnits",
        artifacts: files.map((file) => ({ location: locationOf(file, options) })),
        invocations: [{ executionSuccessful: true, exitCode: hasErrors ? COMMAND_EXITS.input.code : 0 }],
        results,
      },
    ],
  };
}

function rule(code: string): unknown {
  const { title, help } = ruleOf(code);
  return {
    id: code,
    shortDescription: { text: plain(title) },
    help: { text: plain(help), markdown: help },
  };
}

// Code spans are all the Markdown that the texts of rules have.
function plain(markdown: string): string {
  return markdown.replaceAll("`", "");
}

function messageOf({ message, hint }: Diagnostic): string {
  return printable(hint === undefined ? message : `${message}. ${hint}`);
}

function regionMember({ position }: Diagnostic): { readonly region?: Region } {
  return position === undefined ? {} : { region: regionOf(position) };
}

function locationOf(name: string, { root, isFile }: SarifOptions): ArtifactLocation {
  if (!isFile(name)) return { uri: encodeURI(name.toWellFormed()).replaceAll(/[?#]/g, encodeURIComponent) };
  const inner = relative(root, resolve(root, name));
  if (inner.startsWith("..") || isAbsolute(inner)) return { uri: pathToFileURL(resolve(root, name)).href };
  return { uri: inner.toWellFormed().split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" };
}
