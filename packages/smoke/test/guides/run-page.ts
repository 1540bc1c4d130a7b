import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, TerminalScreen } from "@steps/testkit";
import { root } from "../workspace.ts";
import { pageScript, readTranscript, type Transcript } from "./page-script.ts";
import type { Block } from "./read-page.ts";

/** Pages are wrapped to this width, and so is what they show. */
const COLUMNS = 100;
/** Lines that a program leaves to the terminal to wrap are shown as they are when they are copied from it. */
const WIDE = 10_000;
export const TOO_LONG_MS = 110_000;
const PROGRAMS = ["step-runner", "runner-bridge", "pod", "node"];
/** The port of a pod, for which another one stands in: somebody else's pod may have it. */
const PORT = "8929";
const LIBRARIES = ["client", "compiler", "dial"];

/** The screen of a reader who follows a page, on a terminal of 100 columns, with an empty home, on a machine that is a folder. */
export async function runPage(
  blocks: readonly Block[],
  machine: string,
  env: Readonly<Record<string, string>>,
): Promise<Transcript> {
  const home = join(machine, "home", "you");
  const bin = join(machine, "bin");
  mkdirSync(home, { recursive: true });
  mkdirSync(bin);
  for (const program of PROGRAMS) symlinkSync(join(root, "node_modules", ".bin", program), join(bin, program));
  // As `npm install` leaves them.
  mkdirSync(join(home, "node_modules", "@steps"), { recursive: true });
  for (const name of LIBRARIES) symlinkSync(join(root, "packages", name), join(home, "node_modules", "@steps", name));
  const script = join(machine, "page.sh");
  const port = String(await freePort());
  writeFileSync(script, pageScript(blocks).replaceAll(PORT, port));
  const raw = await onTerminal(`exec bash --noprofile --norc '${script}'`, {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    TERM: "xterm",
    LANG: "C.UTF-8",
    TZ: "UTC",
    NO_COLOR: "1",
    // This machine may have credential helpers of its own.
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "You",
    GIT_AUTHOR_EMAIL: "you@example.com",
    GIT_COMMITTER_NAME: "You",
    GIT_COMMITTER_EMAIL: "you@example.com",
    POD_PORT: port,
    ...env,
  });
  const seen = (text: string): string =>
    new TerminalScreen(WIDE).write(text).text.replaceAll(machine, "").replaceAll(port, PORT);
  const { calls, stopped } = readTranscript(raw);
  return {
    calls: calls.map((call) => ({ ...call, text: seen(call.text) })),
    stopped: stopped === undefined ? undefined : { ...stopped, text: seen(stopped.text) },
  };
}

function onTerminal(command: string, env: Readonly<Record<string, string>>): Promise<string> {
  // Standard input stays open: at its end, `script` would type the end of a file.
  const child = spawn("script", ["-qec", `stty cols ${COLUMNS} rows 50 -echo; ${command}`, "/dev/null"], {
    cwd: env["HOME"],
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const tooLong = setTimeout(() => child.kill("SIGKILL"), TOO_LONG_MS);
  return new Promise((fulfil, reject) => {
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(tooLong);
      fulfil(text);
    });
  });
}
