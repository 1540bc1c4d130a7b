import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { complain } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { openSocket } from "../service/open-socket.ts";
import { pump } from "../service/pump.ts";
import { socketFlag } from "../flags/socket-flag.ts";

const flags = {
  ...socketFlag,
  check: flag.boolean({ summary: "Only tell by the exit code whether a service is there, for health checks" }),
};

export const proxy = defineCommand({
  name: "proxy",
  summary: "Carry bytes between standard input and output and the socket of a service",
  usage: "[flags]",
  description: [
    "What a runner starts in a container or on a machine to reach the service there. It ends when either side does. " +
      "Without --socket the service is looked for where services listen by default.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["docker exec -i NAME step-runner proxy", "a connection to the service in a container"],
    ["step-runner proxy --check", "0 where a service listens, 1 where none does"],
  ],
  run,
});

async function run(options: OptionsOf<typeof flags>): Promise<number> {
  const { socket, problem } = await openSocket(options.socket);
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
