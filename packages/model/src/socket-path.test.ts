import { describe, expect, test } from "vitest";
import { socketPlaces } from "./socket-path.ts";

describe("socketPlaces", () => {
  test("a user with a runtime directory", () => {
    expect(socketPlaces({ HOME: "/home/u", XDG_RUNTIME_DIR: "/run/user/1" })).toEqual({
      own: "/run/user/1/step-runner/step-runner.sock",
      all: [
        "/run/user/1/step-runner/step-runner.sock",
        "/home/u/.local/state/step-runner/v1/service/step-runner.sock",
        "/tmp/step-runner.sock",
      ],
    });
  });

  test("the variable is looked at first and is never the place of a service of its own", () => {
    const places = socketPlaces({ HOME: "/h", STEP_RUNNER_SOCKET: "/x/s.sock", TMPDIR: "/scratch/" });
    expect(places.own).toBe("/h/.local/state/step-runner/v1/service/step-runner.sock");
    expect(places.all).toEqual(["/x/s.sock", places.own, "/scratch/step-runner.sock"]);
  });

  test("relative directories are ignored, as XDG wants", () => {
    expect(socketPlaces({ HOME: "/h", XDG_RUNTIME_DIR: "run", XDG_STATE_HOME: "state", TMPDIR: "" }).all).toEqual([
      "/h/.local/state/step-runner/v1/service/step-runner.sock",
      "/tmp/step-runner.sock",
    ]);
  });
});
