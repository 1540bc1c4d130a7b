import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { complain } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { type OpenedSocket, openSocket } from "../service/open-socket.ts";
import { pump } from "../service/pump.ts";
import { socketFlag } from "../flags/socket-flag.ts";

const flags = {
  ...socketFlag,
  start: flag.boolean({
    summary: "Start a service of this user if none listens",
  }),
  check: flag.boolean({ summary: "Only tell by the exit code whether a service is there, for health checks" }),
};

export const proxy = defineCommand({
  name: "proxy",
  summary: "Carry bytes between standard input and output and the socket of a service",
  usage: "[flags]",
  description: [
    "What a runner starts in a container or on a machine to reach the service there. It ends when either side does. " +
      "Without --socket the service is looked for where services listen by default.",
    "--start is for machines that are reached by SSH: it connects to the service of this user, which it starts if need be. " +
      "The service asks for tokens, and ends 10 minutes after its last job and connection.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["docker exec -i NAME step-runner proxy", "a connection to the service in a container"],
    ["step-runner proxy --check", "0 where a service listens, 1 where none does"],
  ],
  run,
});

async function open({ socket, start }: OptionsOf<typeof flags>): Promise<OpenedSocket> {
  if (!start) return await openSocket(socket);
  const { openOrStart } = await import("../service/open-or-start.ts");
  return await openOrStart(socket);
}

async function run(options: OptionsOf<typeof flags>): Promise<number> {
  const { socket, problem } = await open(options);
  if (socket === undefined) {
    complain(problem, "Start one with step-runner serve, or name its socket with --socket.");
    return COMMAND_EXITS.failure.code;
  }
  if (options.check) {
    socket.destroy();
    return 0;
  }
  const error = await pump(process.stdin, process.stdout, socket);
  if (error === undefined) return 0;
  complain(`The connection broke: ${error.message}`);
  return COMMAND_EXITS.failure.code;
}
