/** When an image is fetched from its registry. */
export type PullPolicy = "always" | "if-not-present" | "never";

/** An image to make a container of. */
export interface WantedImage {
  /** As the engine takes it: `alpine:3.22`. */
  readonly name: string;
  /** The program that starts in place of the image's own, with its arguments; an empty text takes the image's own away. Absent: the image's own. */
  readonly entrypoint?: readonly string[] | undefined;
  /** They are tried in turn until one gives the image; `if-not-present` when there are none. */
  readonly pullPolicies: readonly PullPolicy[];
  /** `linux/amd64`. Absent: that of the machine. */
  readonly platform?: string | undefined;
  /** `1000`, `app:app`. Absent: that of the image. */
  readonly user?: string | undefined;
}

/** A service beside the job. */
export interface WantedService extends WantedImage {
  /** The names by which the job finds it. */
  readonly hostNames: readonly string[];
  /** Replaces the command of the image. Absent: the image's own. */
  readonly command?: readonly string[] | undefined;
  /** Variables of its environment besides those of the job, which they win over. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A folder of the host, and the path at which the containers see it: both absolute. */
export interface SharedFolder {
  readonly source: string;
  readonly target: string;
}

/** The containers of a job. */
export interface WantedContainers {
  readonly image: WantedImage;
  readonly services: readonly WantedService[];
  /** The environment of the services. The processes of the job get theirs with the job. */
  readonly serviceEnv: Readonly<Record<string, string>>;
  /** The project; `isPrivate`: a copy that the job has for itself, which its user is given while it runs. */
  readonly project: SharedFolder & { readonly isPrivate: boolean };
  /** Folders that several jobs share, at once or in turn: stores of artifacts and caches. */
  readonly stores: readonly SharedFolder[];
  /** Whether the containers have all rights of the host's root, as a service that runs an engine of its own needs them. */
  readonly isPrivileged: boolean;
}
