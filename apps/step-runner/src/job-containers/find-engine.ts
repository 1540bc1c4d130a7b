import { checkContainerCli, type ContainerCli, findContainerCli } from "@steps/containers";

/** The command of an engine that answers, or what is in the way. */
export type FoundEngine = { readonly cli: ContainerCli } | { readonly message: string; readonly hint: string };

let asked: Promise<FoundEngine> | undefined;

/** Finds Docker or Podman, and asks it for its version; once for all jobs. */
export function findEngine(): Promise<FoundEngine> {
  asked ??= askEngine();
  return asked;
}

async function askEngine(): Promise<FoundEngine> {
  const cli = findContainerCli(process.env["PATH"]);
  if (cli === undefined)
    return { message: "there is neither docker nor podman on the PATH", hint: "Install one of them." };
  const check = await checkContainerCli(cli, { env: process.env });
  return check.isUsable ? { cli } : { message: check.message, hint: check.hint };
}
