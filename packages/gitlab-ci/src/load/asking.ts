import type { Value } from "@steps/model";
import type { YamlNode, YamlScalar } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import type {
  ConditionScope,
  FileRequest,
  IncludeRules,
  InputCondition,
  ListFiles,
  ListRequest,
  LoadedFile,
  LoadFailure,
  LoadFile,
  MatchPattern,
  PatternVerdict,
} from "./load-file.ts";

type Question =
  | { readonly kind: "files"; readonly requests: readonly FileRequest[] }
  | { readonly kind: "list"; readonly request: ListRequest }
  | { readonly kind: "rules"; readonly rules: YamlNode; readonly scope: ConditionScope }
  | { readonly kind: "pattern"; readonly pattern: string; readonly text: string }
  | ({ readonly kind: "condition" } & AskedCondition);

/** The condition of a rule of an input, with the inputs that it names. */
interface AskedCondition {
  readonly condition: YamlScalar;
  readonly inputs: ReadonlyMap<string, Value>;
  readonly report: CiReport;
}

type FileAnswer = LoadedFile | LoadFailure;
type ListAnswer = readonly string[] | LoadFailure;
type Answer = readonly FileAnswer[] | ListAnswer | PatternVerdict | undefined;

/** A part of the loader that asks for what is outside: the same code runs with answers at once and with answers later. */
export type Asking<T> = Generator<Question, T, Answer>;

/** Who answers the loader's questions. */
export interface Answerers {
  readonly loadFile: LoadFile;
  /** Absent: an include with a wildcard is refused. */
  readonly listFiles?: ListFiles | undefined;
  /** Absent: an include with rules is refused. */
  readonly includeRules?: IncludeRules | undefined;
  /** Absent: an input with `regex` is refused. */
  readonly matchPattern?: MatchPattern | undefined;
  /** Absent: an input with a rule that has `if` is refused. */
  readonly inputCondition?: InputCondition | undefined;
}

/** Asks for files, all at once. */
export function* askForFiles(requests: readonly FileRequest[]): Asking<readonly FileAnswer[]> {
  return (yield { kind: "files", requests }) as readonly FileAnswer[];
}

/** Asks for the files below a folder. */
export function* askForList(request: ListRequest): Asking<ListAnswer> {
  return (yield { kind: "list", request }) as ListAnswer;
}

/** Asks whether rules let a file in. */
export function* askForVerdict(rules: YamlNode, scope: ConditionScope): Asking<boolean> {
  return (yield { kind: "rules", rules, scope }) as boolean;
}

/** Asks whether a text matches a pattern; `undefined` when nobody can tell. */
export function* askForMatch(pattern: string, text: string): Asking<PatternVerdict | undefined> {
  return (yield { kind: "pattern", pattern, text }) as PatternVerdict | undefined;
}

/** Asks whether the condition of a rule of an input holds; `undefined` when nobody can tell. */
export function* askForCondition(asked: AskedCondition): Asking<boolean | undefined> {
  return (yield { kind: "condition", ...asked }) as boolean | undefined;
}

/** Answers each question, and waits for the answers. */
export async function answerLater<T>(asking: Asking<T>, answerers: Answerers): Promise<T> {
  let next = asking.next();
  while (next.done !== true) {
    const answer = answerOf(next.value, answerers);
    next = asking.next(Array.isArray(answer) ? ((await Promise.all(answer)) as Answer) : ((await answer) as Answer));
  }
  return next.value;
}

/** Answers each question at once. @throws {TypeError} if an answer is a promise */
export function answerNow<T>(asking: Asking<T>, answerers: Answerers): T {
  let next = asking.next();
  while (next.done !== true) {
    const answer = answerOf(next.value, answerers);
    if ((Array.isArray(answer) ? answer : [answer]).some((part) => part instanceof Promise)) {
      throw new TypeError("An answer to the loader is a promise: loadPipeline() waits for it");
    }
    next = asking.next(answer as Answer);
  }
  return next.value;
}

const NO_LIST: LoadFailure = { problem: "An include with a wildcard is not supported here" };

function answerOf(question: Question, answerers: Answerers): unknown {
  const { loadFile, listFiles, includeRules, matchPattern, inputCondition } = answerers;
  if (question.kind === "pattern") return matchPattern?.(question.pattern, question.text);
  if (question.kind === "condition") return inputCondition?.(question.condition, question.inputs, question.report);
  if (question.kind === "files") return question.requests.map((request) => loadFile(request));
  if (question.kind === "list") return listFiles?.(question.request) ?? NO_LIST;
  if (includeRules !== undefined) return includeRules(question.rules, question.scope);
  question.scope.report.error(question.rules, {
    code: "not-supported",
    message: `"rules" of an include are not supported here`,
  });
  return false;
}
