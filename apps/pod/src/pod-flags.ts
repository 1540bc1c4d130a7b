import { type Flag, flag, grouped } from "@steps/console";

/** The flags of pods, daemons and routers for the address that they listen on. `prefix` begins their variables: `POD`. */
export function listenFlags(
  prefix: string,
  { port, clients }: { readonly port: string; readonly clients: string },
): { readonly host: Flag<string>; readonly port: Flag<number> } {
  return {
    host: flag.text({
      placeholder: "ADDRESS",
      summary: `The address to listen on; 0.0.0.0 for ${clients} on other machines`,
      default: "127.0.0.1",
      env: `${prefix}_HOST`,
    }),
    port: flag.integer({
      summary: "The port to listen on; 0 for any that is free",
      default: port,
      max: 65_535,
      env: `${prefix}_PORT`,
    }),
  };
}

/** The flag of pods and daemons for the database that they keep everything in. `owner` is a word for the program: `pod`. */
export function databaseFlags(prefix: string, owner: string): { readonly database: Flag<string | undefined> } {
  return {
    database: flag.text({
      placeholder: "URL",
      summary: `A PostgreSQL for several processes of the ${owner}, postgres://…; by default one is built in`,
      env: `${prefix}_DATABASE`,
    }),
  };
}

/** The flag of pods and daemons for how long they answer a request for a job later. */
export function pollFlags(prefix: string): { readonly "poll-hold": Flag<number> } {
  return {
    "poll-hold": flag.duration({
      summary: "How long a runner's request for a job waits",
      default: "50s",
      env: `${prefix}_POLL_HOLD`,
    }),
  };
}

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
