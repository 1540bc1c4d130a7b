import type { Source } from "@steps/model/diagnostic";
import type { Span, YamlNode } from "@steps/source";
import type { FunctionContext } from "../inputs/functions.ts";
import type { FileContext, LoadedFile, LoadFailure } from "../load-file.ts";
import type { CiReport } from "../../ci-rules.ts";
import type { MergeBudget } from "../merge.ts";
import { madeText } from "../nodes.ts";
import type { CiDocument } from "../read-document.ts";

/** The state that all files of a pipeline share while they are loaded. */
export interface Loading extends FunctionContext {
  readonly report: CiReport;
  readonly budget: MergeBudget;
  /** The files in the order in which they were included. */
  readonly sources: Set<Source>;
  /** The files that were loaded before, by request. */
  readonly loaded: Map<string, LoadedFile | LoadFailure>;
  /** The documents that were read before; `undefined` for a file that cannot be read, which was reported. */
  readonly read: Map<Source, CiDocument | undefined>;
  /** Files that were included so far, each time counted. */
  count: number;
  /** UTF-16 units of all texts. */
  length: number;
  /** Whether the file of the pipeline may include artifacts. */
  readonly includesArtifacts: boolean;
  /** The number of files is too large, which was reported. */
  isFull: boolean;
}

/** A file that is being put together. */
export interface OpenFile {
  readonly document: CiDocument;
  readonly context: FileContext | undefined;
  readonly component: LoadedFile["component"];
  /** The mapping of inputs that it is given. */
  readonly inputs: YamlNode | undefined;
  /** Inputs that are given as texts instead, to the file of the pipeline alone. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** The include that asked for it; `undefined` for the file of the pipeline. */
  readonly at: Span | undefined;
  /** The files that include it, outermost first: each by what asked for it with its inputs, and by its name. */
  readonly path: readonly { readonly id: string; readonly name: string }[];
}

/** The fields of a component as nodes, with the place of the include. */
export function componentNodes(file: OpenFile): ReadonlyMap<string, YamlNode> {
  const { component } = file;
  if (component === undefined) return new Map();
  const at: Span = file.at ?? file.document.config;
  return new Map(
    Object.entries(component).map(([name, value]) => {
      const text = madeText(value ?? "", at);
      return [name, value === null ? { ...text, value: null, style: "plain" as const } : text];
    }),
  );
}
