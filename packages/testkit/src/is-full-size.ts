/**
 * Whether tests that can be long are: `.ci/run` sets `STEPS_FULL=1` for the files that have such tests, and `npm test` has a
 * smaller size in their place.
 */
export const isFullSize: boolean = process.env["STEPS_FULL"] === "1";
