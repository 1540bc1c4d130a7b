import { flag, grouped, type OptionsOf } from "@steps/console";

/** The flags that name the service and the way to it. */
export const targetFlags = {
  ...grouped("Where the service is", {
    docker: flag.text({ placeholder: "CONTAINER", summary: "The service in a Docker container, by exec" }),
    ssh: flag.text({
      placeholder: "[USER@]HOST[:PORT]",
      summary: "The service on a machine, by SSH; ~/.ssh/config counts",
    }),
    kubernetes: flag.text({ placeholder: "NAMESPACE/POD[/CONTAINER]", summary: "The service in a pod, by exec" }),
    socket: flag.text({
      placeholder: "PATH",
      summary: "The service's socket, on this machine or on that of --ssh; its usual places by default",
    }),
    command: flag.text({
      placeholder: "COMMAND",
      summary: "A command whose standard input and output are the connection",
    }),
  }),
  ...grouped("The way there", {
    proxy: flag.text({
      placeholder: "COMMAND",
      summary:
        "The command that --docker, --ssh and --kubernetes run inside; by default step-runner proxy wherever it may be",
    }),
    "docker-host": flag.text({
      placeholder: "URL",
      summary: "The Docker daemon: unix:///PATH or tcp://HOST:PORT; by default as the docker command has it",
      env: "DOCKER_HOST",
    }),
    "docker-tls": flag.text({
      placeholder: "DIR",
      summary: "The folder with ca.pem, cert.pem and key.pem for the daemon",
      env: "RUNNER_BRIDGE_DOCKER_TLS",
    }),
    identity: flag.list({
      placeholder: "FILE",
      summary: "A private key for --ssh, before the agent's; repeat for more",
    }),
    "known-hosts": flag.list({
      placeholder: "FILE",
      summary: "The keys of hosts for --ssh, instead of ssh's own files; repeat for more",
    }),
    "accept-new-host-key": flag.boolean({
      summary: "Add the key of a host that is not known yet, rather than refuse it",
    }),
    kubeconfig: flag.text({
      placeholder: "FILE",
      summary: "How to reach the cluster; by default as kubectl has it, or the pod's service account",
    }),
    context: flag.text({ placeholder: "NAME", summary: "The context of the kubeconfig" }),
  }),
};

/** The options that name a service and the way to it. */
export type TargetOptions = OptionsOf<typeof targetFlags>;
