import { quote } from "@steps/model/diagnostic";
import { describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { entriesOf, reportUnknownKey } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { literalOf } from "../reading/texts.ts";

type ActionKind = "node" | "docker" | "composite";

/** `runs` of a manifest. */
export interface Runs {
  readonly kind: ActionKind;
  /** In lower case. */
  readonly using: string;
  readonly node: YamlMapping;
  readonly keys: ReadonlyMap<string, YamlNode>;
}

const KEYS: Readonly<Record<ActionKind, readonly string[]>> = {
  node: ["using", "main", "pre", "pre-if", "post", "post-if"],
  docker: ["using", "image", "entrypoint", "args", "env", "pre-entrypoint", "pre-if", "post-entrypoint", "post-if"],
  composite: ["using", "steps"],
};

/** Those that GitHub's runner has or had. */
const NODES = ["node12", "node16", "node20", "node24"];

/** Reads `runs` as far as its keys. `undefined`: it says not what to run, which was reported. */
export function readRuns(reading: Reading, root: YamlMapping): Runs | undefined {
  const node = root.entries.get("runs")?.value;
  if (node?.kind !== "mapping") {
    const message =
      node === undefined ? `The manifest has no "runs"` : `"runs" must be a mapping, found ${describeNode(node)}`;
    reading.report.error(node ?? root, { code: node === undefined ? "missing-key" : "wrong-type", message });
    return undefined;
  }
  const using = readUsing(reading, node);
  if (using === undefined) return undefined;
  const keys = new Map<string, YamlNode>();
  for (const [name, { key, value }] of entriesOf(reading, node, `"runs"`)) {
    if (KEYS[using.kind].includes(name)) keys.set(name, value);
    else reportKey(reading, { name, key }, using);
  }
  return { ...using, node, keys };
}

function readUsing(reading: Reading, node: YamlMapping): Pick<Runs, "kind" | "using"> | undefined {
  const { report } = reading;
  const value = node.entries.get("using")?.value;
  if (value === undefined) {
    const isPlugin = node.entries.has("plugin");
    const message = isPlugin ? "Plugins of the runner are not supported" : `"runs" has no "using"`;
    report.error(node, { code: isPlugin ? "not-supported" : "missing-key", message });
    return undefined;
  }
  const using = literalOf(reading, value, `"using"`)?.toLowerCase();
  if (using === undefined) return undefined;
  if (using === "docker" || using === "composite") return { kind: using, using };
  if (!/^node[1-9]\d{0,2}$/.test(using)) {
    const hint = `Write composite, docker or one of ${NODES.join(", ")}.`;
    report.error(value, { code: "unknown-using", message: `Unknown kind of action: ${quote(using)}`, hint });
    return undefined;
  }
  if (!NODES.includes(using)) {
    report.warn(value, { code: "unknown-using", message: `GitHub's runner does not know ${quote(using)}` });
  }
  return { kind: "node", using };
}

function reportKey(
  reading: Reading,
  { name, key }: { readonly name: string; readonly key: YamlNode },
  { kind, using }: Pick<Runs, "kind" | "using">,
): void {
  if (Object.values(KEYS).some((keys) => keys.includes(name))) {
    const message = `The key ${quote(name)} does not go with "using: ${using}"`;
    reading.report.error(key, { code: "key-of-other-kind", message, hint: `It takes ${KEYS[kind].join(", ")}.` });
  } else reportUnknownKey(reading, { name, key, what: `"runs"` }, { known: KEYS[kind] });
}
