import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempDir } from "@steps/testkit";

const run = promisify(execFile);

/** Runs the `docker` command, and gives its output without the last line end. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("docker", args);
  return stdout.trimEnd();
}

/** An image with nothing but a static busybox, imported from a folder under a name of its own. */
export async function importBusybox(): Promise<string> {
  const folder = tempDir();
  await mkdir(join(folder, "bin"));
  await copyFile("/bin/busybox", join(folder, "bin/busybox"));
  for (const applet of ["sh", "cat", "sleep", "nc", "id"]) await symlink("busybox", join(folder, "bin", applet));
  const image = `steps-dial-${randomBytes(6).toString("hex")}:test`;
  await run("sh", ["-c", `tar c -C "$1" . | docker import - "$2"`, "sh", folder, image]);
  return image;
}

/** A container that sleeps, sharing the network of its host. */
export async function startSleeper(image: string): Promise<string> {
  const name = image.replace(":test", `-${randomBytes(3).toString("hex")}`);
  await docker("run", "--detach", "--init=false", "--network", "host", "--name", name, image, "sleep", "3600");
  return name;
}

/** The commands that run in a container, without the first. */
export async function execsIn(container: string): Promise<string[]> {
  const [, ...lines] = (await docker("top", container, "-o", "pid,args")).split("\n");
  return lines.map((line) => line.trim().replace(/^\d+\s+/, "")).filter((args) => args !== "sleep 3600");
}

/** An authority, and certificates of it for a server on 127.0.0.1 and for a client, as Docker's files. */
export async function makeCertificates(): Promise<{
  folder: string;
  server: { cert: Buffer; key: Buffer };
  ca: Buffer;
}> {
  const folder = tempDir();
  const script = `set -e
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca-key.pem -out ca.pem
    for who in server client; do
      openssl req -newkey rsa:2048 -nodes -subj /CN=$who -keyout $who-key.pem -out $who.csr
      printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > ext
      openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile ext -out $who.pem
    done
    mv client.pem cert.pem; mv client-key.pem key.pem`;
  await run("sh", ["-c", script], { cwd: folder });
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "server.pem", "server-key.pem"].map((name) => readFile(join(folder, name))),
  );
  return { folder, ca: ca as Buffer, server: { cert: cert as Buffer, key: key as Buffer } };
}
