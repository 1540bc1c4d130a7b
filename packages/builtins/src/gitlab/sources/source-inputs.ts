import { openRemote, type Remote } from "@steps/transfer";
import { asUrl } from "../../checkout/checkout-source.ts";
import { type BuiltinPlace, type Inputs, invalid } from "../../images/builtin-images.ts";
import { objectOf, optionalText, stringList } from "../gitlab-step.ts";

/** The inputs of `gitlab/checkout`. */
export interface SourceInputs {
  readonly strategy: string;
  /** Absent only where nothing is fetched. */
  readonly remote: Remote | undefined;
  /** Empty: what the ref stands for. */
  readonly sha: string;
  readonly ref: string;
  /** The number of commits; 0 for all. */
  readonly depth: number;
  readonly refspecs: readonly string[];
  readonly isCheckedOut: boolean;
  /** Empty where the tree is not cleaned. */
  readonly cleanFlags: readonly string[];
  readonly fetchFlags: readonly string[];
  readonly submodules: SubmoduleInputs;
  readonly lfs: boolean;
  readonly attempts: number;
  /** Whether what is in the folder may be removed. */
  readonly isDisposable: boolean;
}

/** How the submodules are brought. */
interface SubmoduleInputs {
  readonly strategy: string;
  readonly depth: number;
  readonly paths: readonly string[];
  readonly updateFlags: readonly string[];
}

const STRATEGIES = ["fetch", "clone", "none", "empty"];
const MAX_ATTEMPTS = 10;

/** Reads the inputs; `CI_REPOSITORY_URL`, `CI_COMMIT_SHA` and `CI_COMMIT_REF_NAME` are in the place of empty ones. */
export function readSourceInputs(inputs: Inputs, { env }: BuiltinPlace): SourceInputs {
  const strategy = oneOf(inputs, "strategy", STRATEGIES);
  const url = optionalText(inputs, "url") || (env["CI_REPOSITORY_URL"] ?? "");
  const isFetched = strategy === "fetch" || strategy === "clone";
  if (isFetched && url === "") throw invalid("there is no url, and CI_REPOSITORY_URL is not set");
  const sha = optionalText(inputs, "sha") || (env["CI_COMMIT_SHA"] ?? "");
  const ref = optionalText(inputs, "ref") || (env["CI_COMMIT_REF_NAME"] ?? "");
  if (sha !== "" && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) throw invalid(`sha "${sha}" is no full commit`);
  if (ref.startsWith("-")) throw invalid(`ref "${ref}" is no branch or tag`);
  const depth = numberOf(inputs, "depth");
  const submodules = objectOf(inputs["submodules"] ?? {}, "submodules");
  return {
    strategy,
    remote: isFetched ? openRemote(asUrl(url), {}) : undefined,
    sha,
    ref,
    depth,
    refspecs: refspecsOf(inputs),
    isCheckedOut: inputs["checkout"] !== false,
    cleanFlags: flagsOf(optionalText(inputs, "clean_flags")),
    fetchFlags: flagsOf(optionalText(inputs, "fetch_flags")),
    submodules: {
      strategy: oneOf(submodules, "strategy", ["none", "normal", "recursive"]),
      depth: submodules["depth"] === undefined ? depth : numberOf(submodules, "depth"),
      paths: stringList(submodules["paths"] ?? [], "submodules: paths"),
      updateFlags: flagsOf(optionalText(submodules, "update_flags")),
    },
    lfs: inputs["lfs"] === true,
    attempts: Math.min(Math.max(numberOf(inputs, "attempts"), 1), MAX_ATTEMPTS),
    isDisposable: inputs["disposable"] === true,
  };
}

function oneOf(inputs: Inputs, name: string, words: readonly string[]): string {
  const word = optionalText(inputs, name) || (words[0] ?? "");
  if (words.includes(word)) return word;
  throw invalid(`${name} "${word}" is none of ${words.join(", ")}`);
}

function numberOf(inputs: Inputs, name: string): number {
  const value = inputs[name] ?? 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(`${name} must be a whole number, not negative`);
}

function refspecsOf(inputs: Inputs): string[] {
  const refspecs = stringList(inputs["refspecs"] ?? [], "refspecs");
  const wrong = refspecs.find((refspec) => !/^\+?[\w*/.^@-][^\s]*$/.test(refspec) || refspec.startsWith("-"));
  if (wrong !== undefined) throw invalid(`refspecs: "${wrong}" is none`);
  return refspecs.length > 0 ? refspecs : ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
}

function flagsOf(text: string): string[] {
  return text.trim() === "none" ? [] : text.split(/\s+/).filter((word) => word !== "");
}
