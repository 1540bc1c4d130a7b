import type { YamlNode } from "@steps/source";

/** When an image is fetched from its registry. */
export type PullPolicy = "always" | "if-not-present" | "never";

/** An image that a job names, with its variables filled in. */
export interface JobImage {
  /** As a container engine takes it: `alpine:3.22`, `registry.example.com/group/image@sha256:…`. */
  readonly name: string;
  /** The program that starts in place of the image's own, with its arguments; an empty text takes the image's own away. Absent: the image's own. */
  readonly entrypoint?: readonly string[] | undefined;
  /** They are tried in turn until one gives the image. Empty: the runner decides. */
  readonly pullPolicies: readonly PullPolicy[];
  /** `docker:platform`: `linux/amd64`. */
  readonly platform?: string | undefined;
  /** `docker:user`: `1000`, `app:app`. */
  readonly user?: string | undefined;
  /** The place where the image is named. */
  readonly node: YamlNode;
}

/** A service of a job, with its variables filled in. */
export interface JobService extends JobImage {
  /** The host names by which the job finds the service: those of `alias`, then those that are made of the image's name. */
  readonly hostNames: readonly string[];
  /** Replaces the command of the image. Absent: the image's own. */
  readonly command?: readonly string[] | undefined;
  /** Its own variables, which win over those of the job. */
  readonly variables: Readonly<Record<string, string>>;
}
