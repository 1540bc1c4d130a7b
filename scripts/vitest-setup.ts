import { configureGlobal } from "fast-check";

// The same cases in every run, so that a failure is about the change at hand; STEPS_SEED=$RANDOM looks for new ones.
configureGlobal({ seed: Number(process.env["STEPS_SEED"] ?? 20261121) });
