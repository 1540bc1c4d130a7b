import { checkJob } from "../src/check-job.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("job", checkJob, { isConcurrent: true });
