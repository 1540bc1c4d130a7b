import { PAYLOAD } from "@steps/runner-api/job";
import { expect, test } from "vitest";
import { createLineMask } from "./mask-lines.ts";

const mask = createLineMask(
  PAYLOAD.readValue({
    id: 1,
    token: "token-of-job",
    variables: [
      { key: "ONE", value: "abcdef", masked: true },
      { key: "TWO", value: "defghi", masked: true },
      { key: "LINES", value: "first line\r\nsecond line\nabc", masked: true },
      { key: "SHORT", value: "main", masked: true },
      { key: "SHOWN", value: "not a secret" },
    ],
    features: { token_mask_prefixes: ["acme-", "a+(b*", "tok:", "", "é-"] },
  }),
);

test.each([
  ["", ""],
  ["not a secret in main", "not a secret in main"],
  ["<token-of-job>", "<[MASKED]>"],
  ["abcdefghi abcdef", "[MASKED] [MASKED]"],
  ["<abcdefabcdef>", "<[MASKED]>"],
  ["first line, second line, abc", "[MASKED], [MASKED], abc"],
  ["acme-Ab0_-.= acme- acme", "acme-[MASKED] acme- acme"],
  ["acme-acme-x tok:acme-tok:x", "acme-[MASKED] tok:[MASKED]:[MASKED]"],
  ["a+(b*x aab é-x", "a+(b*[MASKED] aab é-x"],
  ["acme-abcdef", "acme-[MASKED]"],
])("%j is shown as %j", (text, expected) => {
  expect(mask(text)).toBe(expected);
});
