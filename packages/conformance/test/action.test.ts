import { checkAction } from "../src/check-action.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("action", checkAction);
