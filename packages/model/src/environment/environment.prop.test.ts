import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Environment } from "./environment.ts";

type Variables = Record<string, string>;

/** Something that happens to one of the environments made so far, named by its place in the list. */
type Act =
  | { readonly kind: "with"; readonly at: number; readonly variables: Variables }
  | { readonly kind: "export"; readonly at: number; readonly variables: Variables }
  | { readonly kind: "read"; readonly at: number };

const variables = fc.dictionary(fc.constantFrom("A", "B", "C", "__proto__"), fc.string({ maxLength: 2 }), {
  maxKeys: 3,
});
const at = fc.nat({ max: 20 });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant("with"), at, variables }),
  fc.record({ kind: fc.constant("export"), at, variables }),
  fc.record({ kind: fc.constant("read"), at }),
);

/** The rule itself, name by name and from the top: the innermost `env` that has it, the newest export, the last base. */
function lookup(
  name: string,
  layers: readonly Variables[],
  exports: readonly Variables[],
  base: readonly Variables[],
): string | undefined {
  return [...base, ...exports, ...layers].findLast((record) => Object.hasOwn(record, name))?.[name];
}

test("an environment is what the rule of precedence says, for every history of levels and exports", () => {
  fc.assert(
    fc.property(fc.array(variables, { maxLength: 3 }), fc.array(act, { maxLength: 25 }), (base, acts) => {
      const first = { real: Environment.create(...base), layers: [] as Variables[] };
      const environments = [first];
      const exports: Variables[] = [];
      const check = ({ real, layers }: (typeof environments)[number]): void => {
        const flat = real.flatten();
        for (const name of ["A", "B", "C", "__proto__"]) {
          expect(Object.hasOwn(flat, name) ? flat[name] : undefined).toBe(lookup(name, layers, exports, base));
        }
      };
      for (const step of acts) {
        const target = environments.at(step.at % environments.length) ?? first;
        if (step.kind === "with") {
          environments.push({ real: target.real.with(step.variables), layers: [...target.layers, step.variables] });
        } else if (step.kind === "export") {
          target.real.export(step.variables);
          exports.push(step.variables);
        } else check(target);
      }
      environments.forEach(check);
    }),
    { numRuns: 500 },
  );
});
