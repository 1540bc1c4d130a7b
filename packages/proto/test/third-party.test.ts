import { readFileSync } from "node:fs";
import { join } from "node:path";
import { file_buf_validate_validate as whole } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, test } from "vitest";

// Our part of buf/validate/validate.proto has to be what protovalidate reads, or rules would say something else than they seem to.
const text = readFileSync(join(import.meta.dirname, "../../../third_party/buf/validate/validate.proto"), "utf8");
const messages = [...text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => ({
  name: name as string,
  fields: [...(body as string).matchAll(/^ +(?:(?:optional|repeated) )?(\w+) (\w+) = (\d+);/gm)],
}));

test("the part is read at all", () => {
  expect(messages.map(({ name }) => name)).toContain("FieldRules");
  expect(messages.flatMap(({ fields }) => fields).length).toBeGreaterThan(12);
});

test.each(messages)("$name has protovalidate's names and numbers", ({ name, fields }) => {
  const known = whole.messages.find((message) => message.name === name);
  for (const [, type, field, number] of fields) {
    const actual = known?.fields.find((one) => one.number === Number(number));
    expect(actual?.name, `${name} ${number}`).toBe(field);
    const typeName = actual?.proto.typeName.split(".").at(-1);
    if (/^[A-Z]/.test(type as string)) expect(typeName).toBe(type);
    else expect(typeName).toBe("");
  }
});

test("the extensions have protovalidate's numbers", () => {
  for (const [, name, number] of text.matchAll(/optional \w+ (\w+) = (1159);/g)) {
    expect(whole.extensions.find((extension) => extension.name === name)?.number).toBe(Number(number));
  }
});
