import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { loadKubeconfig, pathField, textField } from "./kubeconfig.ts";

async function write(text: string, name = "config"): Promise<string> {
  const path = join(tempDir(), name);
  await writeFile(path, text);
  return path;
}

const config = (name: string, server: string, more = ""): string => `
apiVersion: v1
kind: Config
${more}
clusters: [{ name: ${name}, cluster: { server: ${server} } }]
users: [{ name: ${name}, user: { token: 0123, client-key: keys/a.key } }]
contexts: [{ name: ${name}, context: { cluster: ${name}, user: ${name}, namespace: ns } }]
`;

describe("loadKubeconfig", () => {
  test("reads the current context, text as it stands", async () => {
    const kubeconfig = await write(config("a", "http://a", "current-context: a"));
    const selection = await loadKubeconfig({ kubeconfig, env: {} });
    expect(selection?.namespace).toBe("ns");
    expect(selection?.cluster.fields).toEqual({ server: "http://a" });
    expect(textField(selection?.user?.fields ?? {}, "token")).toBe("0123");
    expect(pathField(selection!.user!, "client-key")).toBe(join(kubeconfig, "..", "keys/a.key"));
  });

  test("merges the files of KUBECONFIG: the first word counts, absent and empty files do not", async () => {
    const one = await write(config("a", "http://one", "current-context: b"));
    const two = await write(config("a", "http://two", "current-context: a"));
    const three = await write(config("b", "http://three"));
    const empty = await write("");
    const env = { KUBECONFIG: [empty, "/no/such/file", "", one, two, three].join(":") };
    expect((await loadKubeconfig({ env }))?.cluster.fields).toEqual({ server: "http://three" });
    expect((await loadKubeconfig({ env, context: "a" }))?.cluster.fields).toEqual({ server: "http://one" });
  });

  test("reads ~/.kube/config, if there is one", async () => {
    const home = tempDir();
    expect(await loadKubeconfig({ env: { HOME: home } })).toBeUndefined();
    await mkdir(join(home, ".kube"));
    await writeFile(join(home, ".kube", "config"), config("h", "http://h", "current-context: h"));
    expect((await loadKubeconfig({ env: { HOME: home } }))?.cluster.fields).toEqual({ server: "http://h" });
    expect(await loadKubeconfig({ env: { HOME: home, KUBECONFIG: "/no/such/file" } })).toBeUndefined();
  });

  const wrongs: Array<[string, string, RegExp]> = [
    ["no current context", config("a", "http://a"), /no current context/u],
    [
      "a context without its cluster",
      "current-context: a\ncontexts: [{name: a, context: {cluster: x}}]",
      /no cluster "x"/u,
    ],
    ["a context that is not there", "current-context: x\ncontexts: []", /no context "x"/u],
    ["broken YAML", "current-context: geheim\n  - [geheim: {", /not valid YAML: line 1, [A-Z_]+$/u],
    ["a list", "[1, 2]", /not a mapping/u],
    ["a bomb", bomb(), /repeats itself too often/u],
    ["a pit", "[".repeat(200_000), /nested too deeply|not valid YAML/u],
    ["a lot", "#".repeat(5_000_000), /Reading the kubeconfig/u],
  ];
  test.each(wrongs)("refuses %s", async (_what, text, message) => {
    const kubeconfig = await write(text);
    const error: unknown = await loadKubeconfig({ kubeconfig, env: {} }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "ADDRESS_INVALID", message: expect.stringMatching(message) as string });
    expect((error as Error).message).not.toContain("geheim");
  });

  test("refuses a file that is named and is not there", async () => {
    const loading = loadKubeconfig({ kubeconfig: "/no/such/file", env: {} });
    await expect(loading).rejects.toMatchObject({ code: "ADDRESS_INVALID" });
  });

  test("takes names from nowhere else than the file, and only its first document", async () => {
    const first =
      "current-context: a\nclusters: [{name: c, cluster: {}}]\ncontexts: [{name: a, context: {cluster: c, user: __proto__}}]";
    const kubeconfig = await write(`${first}\n---\ncurrent-context: b`);
    expect(await loadKubeconfig({ kubeconfig, env: {} })).toMatchObject({ user: undefined, namespace: undefined });
    const wrong = await write(first.replaceAll("cluster: c", "cluster: __proto__"));
    const loading = loadKubeconfig({ kubeconfig: wrong, env: {} });
    await expect(loading).rejects.toMatchObject({
      message: expect.stringContaining('no cluster "__proto__"') as string,
    });
  });
});

/** Ten aliases of ten aliases of … */
function bomb(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 10; level += 1) {
    lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`);
  }
  return lines.join("\n");
}
