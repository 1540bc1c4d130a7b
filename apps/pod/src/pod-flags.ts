import { flag, grouped } from "@steps/console";

/** The flag for the folder in which a pod keeps its files. */
export const stateFlags = {
  "state-dir": flag.path({
    summary: "The folder of the pod's state; by default pod below XDG_STATE_HOME or ~/.local/state",
    env: "POD_STATE_DIR",
  }),
};

/** The folder in which a daemon keeps its files. */
export const daemonStateFlags = {
  "state-dir": flag.path({
    summary: "The folder of the daemon's state; by default pod-daemon below XDG_STATE_HOME or ~/.local/state",
    env: "POD_DAEMON_STATE_DIR",
  }),
};

/** How the result is written. */
export const reportFlags = {
  report: flag.choice(["text", "json"], { summary: "For people, or for programs", default: "text" }),
};

/** The flags of commands that ask a running pod. */
export const podFlags = {
  ...reportFlags,
  ...grouped("Which pod", {
    ...stateFlags,
    url: flag.text({
      placeholder: "URL",
      summary: "Another pod than the one of the state directory, or the router before it",
      env: "POD_URL",
    }),
    "admin-token": flag.text({
      placeholder: "TOKEN",
      summary: "The token of that pod's owner, from admin.json in its state directory; better in the variable",
      env: "POD_ADMIN_TOKEN",
    }),
  }),
};

/** The flags of commands that ask a running daemon. */
export const daemonFlags = {
  ...reportFlags,
  ...grouped("Which daemon", {
    ...daemonStateFlags,
    url: flag.text({
      placeholder: "URL",
      summary: "Another daemon than the one of the state directory",
      env: "POD_DAEMON_URL",
    }),
    "admin-token": flag.text({
      placeholder: "TOKEN",
      summary: "The token of that daemon's owner, from admin.json in its state directory; better in the variable",
      env: "POD_ADMIN_TOKEN",
    }),
  }),
};
