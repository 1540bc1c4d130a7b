import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@steps/console";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { daemon } from "./daemon.ts";
import { router } from "./router.ts";
import { serve } from "./serve.ts";

test.each<[string, Command, object]>([
  [
    "router: {port: 1, log-format: json}\ndaemon: {port: 2}\npods: []",
    router as Command,
    { port: ["1"], "log-format": ["json"] },
  ],
  ["router: {port: 1}\ndaemon: {port: 2}\npods: []", daemon as Command, { port: ["2"] }],
  ["pod: 3\ndatabase: postgres://db/pod", serve as Command, { pod: ["3"], database: ["postgres://db/pod"] }],
])("the file %j has flags of its command", async (text, command, expected) => {
  const file = join(tempDir(), "config.yml");
  writeFileSync(file, text);
  const value = (flag: string): string | undefined => (flag === "config" ? file : undefined);
  expect(await command.settings?.(command.flags, { positionals: [], value })).toEqual(expected);
});
