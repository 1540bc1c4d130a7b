import type { WantedService } from "@steps/job-containers";

/** The key of a variable in the secret of a pod: of one service by its index, or of all. */
export function secretKey(index: number | undefined, variable: string): string {
  return index === undefined ? variable : `svc-${index}.${variable}`;
}

/** The facts that the secret of a pod is made of. */
export interface SecretFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly services: readonly WantedService[];
  readonly serviceEnv: Readonly<Record<string, string>>;
  /** The text of a docker configuration with credentials for pulls. */
  readonly dockerConfig: string | undefined;
}

/** The secret of a pod: credentials for pulls, and the environments of services. `undefined` when there is nothing in it. */
export function secretManifest({ name, labels, services, serviceEnv, dockerConfig }: SecretFacts): object | undefined {
  if (services.length === 0 && dockerConfig === undefined) return undefined;
  const texts: Record<string, string> = {};
  if (services.length > 0)
    for (const [variable, value] of Object.entries(serviceEnv)) texts[secretKey(undefined, variable)] = value;
  for (const [index, service] of services.entries())
    for (const [variable, value] of Object.entries(service.variables)) texts[secretKey(index, variable)] = value;
  if (dockerConfig !== undefined) texts[DOCKER_CONFIG] = dockerConfig;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, labels },
    type: dockerConfig === undefined ? "Opaque" : "kubernetes.io/dockerconfigjson",
    stringData: texts,
  };
}

const DOCKER_CONFIG = ".dockerconfigjson";
