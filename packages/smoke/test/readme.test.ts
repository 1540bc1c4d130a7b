import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { root } from "./workspace.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = Array.from(readme.matchAll(/^```sh\n([^]*?)^```$/gm), ([, text]) => text ?? "");
/** They set the work tree up and run these tests, or want an image from the network. */
const elsewhere = blocks.filter((block) => /^npm (?:start|test)|^docker run/m.test(block));
const here = blocks.filter((block) => !elsewhere.includes(block));

describe("README.md", () => {
  test("has blocks that run here, and two that do not", () => {
    expect({ here: here.length, elsewhere: elsewhere.length }).toEqual({ here: 4, elsewhere: 2 });
  });

  test("can be pasted from top to bottom by somebody with an empty home", () => {
    const folder = mkdtempSync(join(tmpdir(), "steps-readme-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // A clone after npm start, as far as the commands of the page see it.
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    mkdirSync(join(folder, "home"));
    symlinkSync(join(root, "node_modules", ".bin", "step-runner"), join(bin, "step-runner"));
    writeFileSync(join(folder, "package.json"), readFileSync(join(root, "package.json")));
    cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
    const { status, stdout, stderr } = spawnSync("bash", ["-eu"], {
      cwd: folder,
      encoding: "utf8",
      input: here.join("\n"),
      env: { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    expect(stdout).toContain("hello you\nit said hello you\n");
    expect(stdout).toContain("Replay: The same\n");
    expect(stdout).toContain("counted in JavaScript");
  });

  test.each(["step-runner", "runner-bridge", "pod"])("has a row for every command that %s shows", (program) => {
    const cells = Array.from(readme.matchAll(/^\| (`.*?`) +\| /gm), ([, cell = ""]) => cell);
    const words = new Set(cells.flatMap((cell) => cell.split(", ")).map((word) => word.slice(1, -1)));
    const command = join(root, "node_modules", ".bin", program);
    const { stdout } = spawnSync(command, ["--help"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], COLUMNS: "500" },
    });
    const shown = Array.from(stdout.matchAll(/^ {2}([a-z]\S*(?: \S+)?) {2}/gm), ([, name = ""]) => name);
    expect(shown).toContain("man");
    // Those that all have stand in the table of the first one alone.
    const own = program === "step-runner" ? shown : shown.filter((name) => name !== "completion" && name !== "man");
    const prefix = program === "step-runner" ? "" : `${program} `;
    expect(own.filter((name) => !words.has(`${prefix}${name}`))).toEqual([]);
  });

  test("calls no command by a name that a registry would look up", () => {
    const pages = ["README.md", "docs", "examples", "apps", "packages"].flatMap((path) =>
      spawnSync("git", ["ls-files", "-z", "--", path === "README.md" ? path : `${path}/**/*.md`], {
        cwd: root,
        encoding: "utf8",
      })
        .stdout.split("\0")
        .filter(Boolean),
    );
    expect(pages).toContain("README.md");
    const called = pages.flatMap((page) =>
      Array.from(
        readFileSync(join(root, page), "utf8").matchAll(/\b(?:npx|npm exec|pnpm dlx|bunx)\s+(?:-\S+\s+)*([\w@./-]+)/g),
        ([, name = ""]) => `${page}: ${name}`,
      ),
    );
    expect(called.filter((name) => !name.includes(": @steps/"))).toEqual([]);
  });

  test("names only flags that there are", () => {
    const cli = readFileSync(join(root, "docs/reference/cli.md"), "utf8");
    const calls = readme.match(/(?:step-runner|runner-bridge) [^\n`]*--[^\n`]*/g) ?? [];
    const flags = calls.flatMap((call) => call.match(/--[a-z][a-z-]*/g) ?? []).filter((flag) => flag !== "--help");
    expect(flags.length).toBeGreaterThan(4);
    expect(flags.filter((flag) => !cli.includes(`\`${flag}`))).toEqual([]);
  });
});
