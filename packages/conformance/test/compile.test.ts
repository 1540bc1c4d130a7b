import { checkCompile } from "../src/check-compile.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("compile", checkCompile);
