import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "run-in-child.ts");

function descriptorsOfStep(redirections: string): string {
  // Descriptors that the tests themselves were given are closed first.
  const close = 'for fd in $(ls /proc/$$/fd); do [ "$fd" -le 2 ] || eval "exec $fd>&-"; done';
  const node = `${close}; exec "$0" --conditions=steps-source "$1" "$2" ${redirections}`;
  const { stdout } = spawnSync("bash", ["-c", node, process.execPath, program, "ls -l /proc/self/fd"], {
    encoding: "utf8",
  });
  return stdout;
}

test("a step gets no descriptor that the runner was given, whatever its number", () => {
  const listed = descriptorsOfStep("7</etc/hostname 20</etc/passwd 300</etc/group 301</etc/group");
  expect(listed).toContain("1 -> ");
  expect(listed).not.toMatch(/passwd|group|hostname/);
  expect(listed).toMatch(/ 300 -> \/dev\/null\n/);
});

test("a step gets only its standard streams from a runner that was given nothing else", () => {
  const numbers = [...descriptorsOfStep("").matchAll(/ (\d+) -> (\S+)/g)].filter(
    ([, , target]) => !target?.startsWith("/proc/"),
  );
  expect(numbers.map(([, fd]) => fd)).toEqual(["0", "1", "2"]);
});
