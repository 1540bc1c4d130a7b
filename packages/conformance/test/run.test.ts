import { checkRun } from "../src/check-run.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("run", checkRun, { isConcurrent: true });
