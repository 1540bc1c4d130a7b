import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createCertificates, hasProgram, tempDir } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { certificatesIn } from "./certificates.ts";

const MODULE = join(import.meta.dirname, "certificates.ts");

/** Fetches a URL in a process of its own that trusts what is beside a launcher. */
async function fetchWith(launcher: string, url: string): Promise<string> {
  const script = `
    import { trustCertificates } from ${JSON.stringify(MODULE)};
    trustCertificates(${JSON.stringify(launcher)});
    for (let turn = 0; turn < 2; turn += 1)
      process.stdout.write(await fetch(${JSON.stringify(url)}).then((answer) => answer.text(), (error) => error.cause.code) + "\\n");`;
  const { NODE_EXTRA_CA_CERTS: ignored, ...env } = process.env;
  void ignored;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(child, "close");
  return text;
}

test.skipIf(!hasProgram("openssl"))("what is beside the launcher is trusted, besides what Node trusts", async () => {
  const { ca, server: pair } = await createCertificates();
  const server = createServer(pair, (_, response) => response.end("hello"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const dir = tempDir();
  expect(await fetchWith(join(dir, "x"), url)).toMatch(/^(?:UNABLE_TO_\w+\n){2}$/);
  writeFileSync(join(dir, "ca-certs.pem"), `# comment\n${ca.cert}\nno certificate\n`);
  expect(await fetchWith(join(dir, "x"), url)).toBe("hello\nhello\n");
});

test("certificatesIn() finds each certificate of a file", () => {
  const one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  expect(certificatesIn(`# a\n${one}\n\nb\n${one.replace("AAAA", "BBBB")}\n-----BEGIN CERTIFICATE-----\nCCC`)).toEqual([
    one,
    one.replace("AAAA", "BBBB"),
  ]);
  expect(certificatesIn("")).toEqual([]);
});
