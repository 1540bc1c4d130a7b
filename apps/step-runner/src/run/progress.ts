import { CLEAR_LINE, errors, terminalOf } from "@steps/console/terminal";
import { printable } from "@steps/model/diagnostic";
import { shownLabel } from "@steps/trace/tree";
import type { FetchProgress, RunHooks } from "@steps/engine";

type JournalEvent = Parameters<NonNullable<RunHooks["onEvent"]>>[0];

const SHOW_AFTER_MS = 500;
const REDRAW_MS = 250;

/** Notes on a GitHub action, of which a job may have many. */
const OF_ACTIONS: ReadonlySet<string> = new Set([
  "action-input",
  "action-pre",
  "action-token",
  "condition",
  "node-other-version",
  "node-own-runtime",
  "node-not-usable",
]);

/** Notes that are worth showing although nothing is wrong. */
const SHOWN: ReadonlySet<string> = new Set(["artifact", "container"]);

/** Shows a run to a person, except for the output of its steps. Everything goes to standard error. */
export class Progress {
  readonly #terminal = terminalOf(2);
  readonly #isQuiet: boolean;
  readonly #hasView: boolean;
  readonly #names = new Map<string, { readonly name: string; readonly label: string }>();
  #fetch: { readonly start: number; readonly timer: NodeJS.Timeout; text: string } | undefined;
  #hasLine = false;

  /** @param hasView whether something else shows the steps and what they fetch, so that only the notes are left */
  constructor(isQuiet: boolean, { hasView = false }: { readonly hasView?: boolean } = {}) {
    this.#isQuiet = isQuiet;
    this.#hasView = hasView;
  }

  readonly onEvent = (event: JournalEvent): void => {
    if (event.type === "note" && this.#isWorthSaying(event)) this.#say(this.#withStep(event));
    if (event.type === "component-resolved" || event.type === "step-finished") this.#endFetch();
    if (event.type === "process-starting") this.#sayStep(this.#nameOf(event.path));
    if (event.type === "step-opened") this.#names.set(event.path, { name: event.name, label: shownLabel(event) });
  };

  /** A step of a job in a container runs. */
  readonly onStep = (name: string): void => this.#sayStep(`name=${name}`);

  #sayStep(name: string): void {
    if (!this.#isQuiet && !this.#hasView) this.#say(this.#terminal.dim(`Running step ${name}`));
  }

  // The path of an artifact is worth showing too, because nobody can guess the folder of the run, and an image may take long.
  #isWorthSaying({ level, code }: Extract<JournalEvent, { readonly type: "note" }>): boolean {
    return level === "error" || (!this.#isQuiet && (level === "warning" || SHOWN.has(code)));
  }

  // It comes before the line that names the step.
  #withStep({ code, path, message }: Extract<JournalEvent, { readonly type: "note" }>): string {
    return path === "" || !OF_ACTIONS.has(code)
      ? message
      : `${stepName(this.#names.get(path)?.name, path)}: ${message}`;
  }

  /** A fetch that takes long shows how far it is, on a terminal only and in one line that is drawn over. */
  readonly onProgress = (_path: string, reference: string, progress: FetchProgress): void => {
    if (!this.#terminal.isTerminal || this.#isQuiet) return;
    // A server that says nothing is waited for too, so the clock draws, not the news.
    this.#fetch ??= { start: performance.now(), timer: setInterval(() => this.#draw(), REDRAW_MS).unref(), text: "" };
    this.#fetch.text = `Fetching ${describeFetch(reference, progress)}`;
  };

  #draw(): void {
    if (this.#fetch === undefined) return;
    const elapsedMs = performance.now() - this.#fetch.start;
    if (elapsedMs < SHOW_AFTER_MS) return;
    const text = `${this.#fetch.text}, ${Math.floor(elapsedMs / 1000)} s`;
    const drawn = text.slice(0, this.#terminal.width - 1);
    if (this.#hasLine) void errors.write(Buffer.from(`${CLEAR_LINE}${drawn}`));
    else void errors.writeLines(drawn);
    this.#hasLine = true;
  }

  #nameOf(path: string): string {
    const { name = "", label = "" } = this.#names.get(path) ?? {};
    return name === "" ? printable(label) : `name=${name}`;
  }

  #endFetch(): void {
    clearInterval(this.#fetch?.timer);
    this.#fetch = undefined;
    if (this.#hasLine) void errors.write(Buffer.from(CLEAR_LINE));
    this.#hasLine = false;
  }

  #say(text: string): void {
    this.#endFetch();
    void errors.writeLines(`${text}\n`);
  }
}

function stepName(name: string | undefined, path: string): string {
  return name === undefined || name === "" ? `step #${numberOf(path)}` : `step ${JSON.stringify(name)}`;
}

function numberOf(path: string): number {
  return Number(path.split("/").at(-1)) + 1;
}

/** `git+https://…: receiving 1.2 MiB of 3.4 MiB` */
export function describeFetch(reference: string, progress: FetchProgress): string {
  return `${reference}: ${progress.phase}${amount(progress)}`;
}

function amount(progress: FetchProgress): string {
  if (progress.bytes === undefined) return "";
  const mib = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  return progress.totalBytes === undefined
    ? ` ${mib(progress.bytes)}`
    : ` ${mib(progress.bytes)} of ${mib(progress.totalBytes)}`;
}
