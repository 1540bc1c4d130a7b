import { Environment } from "@steps/model/environment";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

const name = fc.constantFrom("A", "B", "C", "PATH", "__proto__");
const layer = fc.dictionary(name, fc.string({ maxLength: 3 }), { noNullPrototype: true });
const plain = (environment: Environment) => new Map(Object.entries(environment.flatten()));
const merge = (...layers: Record<string, string>[]) => new Map(layers.flatMap((each) => Object.entries(each)));

describe("Environment", () => {
  test("is a fold of base, exports and layers in that order, whenever an export comes", () => {
    fc.assert(
      fc.property(layer, layer, layer, layer, layer, (base, first, second, outer, inner) => {
        const job = Environment.create(base);
        const early = job.with(outer);
        job.export(first);
        const late = early.with(inner);
        early.flatten();
        late.export(second);
        expect(plain(late)).toEqual(merge(base, first, second, outer, inner));
        expect(plain(early)).toEqual(merge(base, first, second, outer));
        expect(plain(job)).toEqual(merge(base, first, second));
      }),
    );
  });

  test("does not change when nothing is added", () => {
    fc.assert(
      fc.property(layer, layer, (base, own) => {
        const environment = Environment.create(base).with(own);
        expect(environment.with({})).toBe(environment);
        expect(plain(environment.with(own))).toEqual(plain(environment));
      }),
    );
  });
});
