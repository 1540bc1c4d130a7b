/**
 * The commands that may start the proxy inside a container: on the PATH, in our own image, and in the folder of
 * GitLab's runner.
 */
export const PROXY_COMMANDS: readonly (readonly string[])[] = [
  ["step-runner", "proxy"],
  ["/step-runner", "proxy"],
  ["/opt/gitlab-runner/gitlab-runner-helper", "steps", "proxy"],
  ["gitlab-runner-helper", "steps", "proxy"],
];

/** The words of a proxy without its own advice, which is for those who start it. */
export function withoutHint(words: string): string {
  return words.replaceAll(/\n {2}hint: .*/g, "");
}
