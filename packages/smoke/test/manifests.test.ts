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
import { parse, parseAllDocuments } from "yaml";
import { root } from "./workspace.ts";

const FOLDER = join(root, "deploy/kubernetes");
const COMMAND = /"command":\[("(?:pod|runner-bridge|step-runner)".*?)\]/gu;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
  }[];
}

interface WholeSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: unknown;
  readonly initContainers?: readonly { readonly securityContext?: unknown }[];
  readonly containers: readonly { readonly securityContext?: unknown }[];
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
    "step-runner serve",
  ]);
  const flags = commands.flat().filter((word) => word.startsWith("--"));
  expect(flags.filter((flag) => !cli.includes(`\`${flag} `))).toEqual([]);
});

test("the service runs as nobody of importance, writes to its volumes alone, and is asked for its health", () => {
  const manifests = manifestsOf("service.yml");
  const find = <K>(kind: string): K => manifests.find((manifest) => manifest.kind === kind) as K;
  const { template } = find<{ readonly spec: { readonly template: { readonly spec: PodSpec } } }>("StatefulSet").spec;
  const [container] = template.spec.containers;
  expect(template.spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  });
  expect(container).toMatchObject({
    securityContext: {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    },
    livenessProbe: { httpGet: { path: "/healthz" } },
    readinessProbe: { httpGet: { path: "/readyz" } },
  });
  const { data } = find<{ readonly data: Readonly<Record<string, string>> }>("ConfigMap");
  const settings = parse(data["serve.yml"] ?? "") as Readonly<Record<string, string>>;
  const cli = readFileSync(join(root, "docs/reference/cli.md"), "utf8");
  for (const name of Object.keys(settings)) expect(cli).toContain(`\`--${name} `);
  const mounts = container?.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  for (const name of ["socket", "state-dir"])
    expect(
      mounts?.some((mount) => settings[name]?.startsWith(`${mount}/`)),
      name,
    ).toBe(true);
  const drainSeconds = Number(/^(\d+)m$/.exec(settings["drain-timeout"] ?? "")?.[1]) * 60;
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + 30);
});

test.each(files)(
  "all that deploy/kubernetes/%s starts runs as nobody of importance, and writes to its volumes alone",
  (file) => {
    const specs = manifestsOf(file).flatMap((manifest) => {
      const { spec } = manifest as { readonly spec?: { readonly template?: { readonly spec: WholeSpec } } };
      return spec?.template === undefined ? [] : [spec.template.spec];
    });
    expect(specs).toHaveLength(1);
    for (const { securityContext, initContainers = [], containers, ...spec } of specs) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      // Only a runner speaks with the cluster.
      expect(spec.automountServiceAccountToken).toBe(file === "runner.yml" ? undefined : false);
      for (const container of [...initContainers, ...containers])
        expect(container.securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
        });
    }
  },
);

test("the guide names every manifest", () => {
  const guide = readFileSync(join(root, "docs/guide/pods-on-kubernetes.md"), "utf8");
  for (const file of files) expect(guide).toContain(`(../../deploy/kubernetes/${file})`);
});
