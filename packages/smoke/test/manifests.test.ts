import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import { Role } from "kubernetes-models/rbac.authorization.k8s.io/v1/Role";
import { RoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Secret } from "kubernetes-models/v1/Secret";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { root } from "./workspace.ts";

const FOLDER = join(root, "deploy/kubernetes");
const COMMAND = /"command":\[("(?:pod|runner-bridge)".*?)\]/gu;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

type Model = new (fields: never) => { validate(): void };

const MODELS: Readonly<Record<string, Model>> = {
  "v1/ConfigMap": ConfigMap,
  "v1/Secret": Secret,
  "v1/Service": Service,
  "v1/ServiceAccount": ServiceAccount,
  "apps/v1/Deployment": Deployment,
  "apps/v1/StatefulSet": StatefulSet,
  "rbac.authorization.k8s.io/v1/Role": Role,
  "rbac.authorization.k8s.io/v1/RoleBinding": RoleBinding,
};

function manifestsOf(file: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(join(FOLDER, file), "utf8")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

const files = readdirSync(FOLDER);

test.each(files)("deploy/kubernetes/%s is what the schemas of Kubernetes want", (file) => {
  const manifests = manifestsOf(file);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) {
    const Known = MODELS[`${manifest.apiVersion}/${manifest.kind}`];
    if (Known === undefined) throw new Error(`There is no model of ${manifest.kind}`);
    new Known(manifest as never).validate();
    expect(manifest.metadata.name).toMatch(/^[a-z0-9-]+$/u);
  }
});

test("the commands of the manifests and their flags are there", () => {
  const cli = readFileSync(join(root, "docs/reference/cli.md"), "utf8");
  const commands = files.flatMap((file) =>
    [...JSON.stringify(manifestsOf(file)).matchAll(COMMAND)].map(
      ([, words = ""]) => JSON.parse(`[${words}]`) as string[],
    ),
  );
  expect(commands.map(([program, command]) => `${program} ${command}`).toSorted()).toEqual([
    "pod router",
    "pod serve",
    "runner-bridge start",
  ]);
  const flags = commands.flat().filter((word) => word.startsWith("--"));
  expect(flags.filter((flag) => !cli.includes(`\`${flag} `))).toEqual([]);
});

test("the guide names every manifest", () => {
  const guide = readFileSync(join(root, "docs/guide/pods-on-kubernetes.md"), "utf8");
  for (const file of files) expect(guide).toContain(`(../../deploy/kubernetes/${file})`);
});
