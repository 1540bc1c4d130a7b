import { checkGithubExpression } from "../src/check-github-expression.ts";
import { defineCases } from "../src/define-cases.ts";

defineCases("github-expression", checkGithubExpression);
