import { appendFileSync, readFileSync } from "node:fs";

const { INPUT_FILE: file, GITHUB_OUTPUT, GITHUB_STATE } = process.env;
const atLeast = Number(process.env["INPUT_AT-LEAST"]);
const words = readFileSync(file, "utf8").split(/\s+/).filter((word) => word !== "").length;
if (words < atLeast) console.log(`::warning file=${file},line=1::It has only ${words} words`);
appendFileSync(GITHUB_OUTPUT, `words=${words}\ncounted-in=JavaScript\n`);
appendFileSync(GITHUB_STATE, `words=${words}\n`);
console.log(`${words} words`);
