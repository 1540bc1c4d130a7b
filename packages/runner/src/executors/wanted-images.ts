import { expandKeyword } from "@steps/gitlab-ci/variables";
import { aliasesOf, hostNamesOf } from "@steps/gitlab-ci/containers";
import type { PullPolicy, WantedImage, WantedService } from "@steps/job-containers";
import type { ImageSpec, JobPayload } from "@steps/runner-api/job";
import { RunnerError } from "../runner-error.ts";

/** The configuration's settings for images. */
export interface ImageDefaults {
  /** For jobs that name none. */
  readonly image: string;
  /** For images that do not say. */
  readonly pull_policy: readonly PullPolicy[];
  /** Whose options of an image say as which user it runs. Default: those for Docker. */
  readonly userOf?: "docker" | "kubernetes";
}

type Variables = Readonly<Record<string, string>>;

/** The images of a job and of its services, with their variables filled in. @throws {RunnerError} PLACE_FAILED for a name that is none */
export function wantedImages(
  { image, services }: Pick<JobPayload, "image" | "services">,
  defaults: ImageDefaults,
  variables: Variables,
): { readonly image: WantedImage; readonly services: readonly WantedService[] } {
  const main = image === null ? { name: defaults.image } : image;
  return {
    image: wantedImage(main, defaults, variables),
    services: services.map((service) => wantedService(service, defaults, variables)),
  };
}

function wantedImage(spec: Partial<ImageSpec>, defaults: ImageDefaults, variables: Variables): WantedImage {
  const { name: written = "", entrypoint = [], pull_policy: policies = [], executor_opts: options } = spec;
  const fill = (text: string): string =>
    expandKeyword("image", text, (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined));
  const name = fill(written);
  if (name === "" || name.startsWith("-") || /[\s\0]/u.test(name)) {
    throw new RunnerError(
      "PLACE_FAILED",
      `"${written}" names no image${name === written ? "" : `, it becomes "${name}"`}`,
    );
  }
  return {
    name,
    entrypoint: entrypoint.length === 0 ? undefined : entrypoint,
    pullPolicies: policies.length === 0 ? defaults.pull_policy : policies.filter(isPolicy),
    platform: fill(options?.docker?.platform ?? "") || undefined,
    user: fill(options?.[defaults.userOf ?? "docker"]?.user ?? "") || undefined,
  };
}

function wantedService(spec: ImageSpec, defaults: ImageDefaults, variables: Variables): WantedService {
  const image = wantedImage(spec, defaults, variables);
  const own = spec.variables.map(({ key, value }) => [key, value] as const);
  return {
    ...image,
    hostNames: [...new Set([...aliasesOf(spec.alias), ...hostNamesOf(image.name)])],
    command: spec.command.length === 0 ? undefined : spec.command,
    variables: Object.fromEntries(own),
  };
}

function isPolicy(text: string): text is PullPolicy {
  return text === "always" || text === "if-not-present" || text === "never";
}
