import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildZip, type ZipEntryInput } from "@steps/testkit";
import type { Entry } from "./contents.ts";
import { type Kind, type Making, STEP } from "./kind.ts";

const MODES = { file: 0o100644, symlink: 0o120777, device: 0o020666, pipe: 0o010666, setuid: 0o104755 } as const;
const STEP_ENTRY: ZipEntryInput = { name: "step.yml", content: STEP };
const MIB = 1024 * 1024;

function toZip({ name, type = "file", content = "", target = "" }: Entry): ZipEntryInput {
  if (type === "hard") return { name, content: target };
  return { name, content: type === "symlink" ? target : content, mode: MODES[type] };
}

function store({ user }: Making, data: Uint8Array): Promise<string> {
  writeFileSync(join(user.work, "evil.zip"), data);
  return Promise.resolve("./evil.zip");
}

const entries =
  (...list: ZipEntryInput[]) =>
  (making: Making): Promise<string> =>
    store(making, buildZip([STEP_ENTRY, ...list]));

const x = (more: Partial<ZipEntryInput>): ZipEntryInput => ({ name: "x", content: "content", ...more });

export const ZIP: Kind = {
  name: "zip",
  make: (list, making) => {
    const hasStep = list.some(({ name }) => name === "step.yml");
    return store(making, buildZip([...(hasStep ? [] : [STEP_ENTRY]), ...list.map(toZip)]));
  },
  specials: {
    "nothing at all": (making) => store(making, Buffer.alloc(0)),
    "no archive": (making) => store(making, making.random.bytes(5000)),
    "cut off": (making) => {
      const data = buildZip([STEP_ENTRY, x({})]);
      return store(making, data.subarray(0, making.random.int(1, data.length - 1)));
    },
    "a byte changed": (making) => {
      const data = buildZip([STEP_ENTRY, x({ content: "content ".repeat(100) })]);
      data[making.random.int(0, data.length - 1)] = making.random.int(0, 255);
      return store(making, data);
    },
    encrypted: entries(x({ isMarkedEncrypted: true })),
    "another method": entries(x({ declaredMethod: 14 })),
    "another local name": entries(x({ localName: "../x" })),
    "overlapping entries": entries(x({}), x({ name: "y", sharesDataOf: 1 })),
    "a thousand names of one bomb": (making) =>
      store(
        making,
        buildZip([
          STEP_ENTRY,
          x({ content: Buffer.alloc(20 * MIB) }),
          ...Array.from({ length: 1000 }, (_, n) => x({ name: `y${n}`, sharesDataOf: 1 })),
        ]),
      ),
    "a wrong checksum": entries(x({ declaredCrc32: 1 })),
    "more than it says": entries(x({ content: "x".repeat(5000), declaredBytes: 5 })),
    "less than it says": entries(x({ declaredBytes: 5000 })),
    "2 GiB by its own word": entries(x({ declaredBytes: 0x7fffffff })),
    "broken data": entries(x({ rawData: Buffer.from("no deflate"), declaredMethod: 8 })),
    "a bomb in one file": entries(x({ content: Buffer.alloc(300 * MIB) })),
    "a bomb in many files": (making) =>
      store(
        making,
        buildZip([
          STEP_ENTRY,
          ...Array.from({ length: 60 }, (_, n) => x({ name: `x${n}`, content: Buffer.alloc(10 * MIB) })),
        ]),
      ),
    "25,000 files": (making) =>
      store(
        making,
        buildZip([STEP_ENTRY, ...Array.from({ length: 25_000 }, (_, n) => x({ name: `x${n}`, method: "store" }))]),
      ),
    "60,000 entries by its own word": (making) => store(making, buildZip([STEP_ENTRY], { declaredEntries: 60_000 })),
    "a program before it": (making) => store(making, buildZip([STEP_ENTRY], { prefix: making.random.bytes(2000) })),
  },
};
