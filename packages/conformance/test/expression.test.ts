import { checkExpression } from "../src/check-expression.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("expression", checkExpression);
