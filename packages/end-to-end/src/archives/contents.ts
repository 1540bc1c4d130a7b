/** An entry of an archive of any kind. */
export interface Entry {
  /** Parts between slashes are folders where the kind of archive has folders of its own. */
  readonly name: string | Buffer;
  /** `hard` is another name of the file `target`; a kind that has no such thing leaves the entry out. */
  readonly type?: "file" | "symlink" | "hard" | "device" | "pipe" | "setuid";
  readonly content?: string;
  readonly target?: string;
}

/** The places at which an escape would show. */
export interface Places {
  /** Part of the name of every file that must not come to be elsewhere. */
  readonly mark: string;
  /** An absolute path outside of every folder of the cache. */
  readonly outside: string;
}

export interface Contents {
  readonly name: string;
  readonly entries: (places: Places) => readonly Entry[];
}

const file = (name: string | Buffer): Entry => ({ name, content: "evil" });
const link = (name: string, target: string): Entry => ({ name, type: "symlink", target });

const NAMES: readonly ((places: Places) => string | Buffer)[] = [
  ({ mark }) => `../${mark}`,
  ({ mark }) => `../../${mark}`,
  ({ mark }) => `a/../../${mark}`,
  ({ mark }) => `a/b/../../../../${mark}`,
  ({ mark }) => `./../${mark}`,
  ({ mark }) => `a/./${mark}`,
  ({ mark, outside }) => `${"../".repeat(24)}${outside.slice(1)}/${mark}`,
  ({ mark, outside }) => `${outside}/${mark}`,
  ({ mark, outside }) => `/${outside}/${mark}`,
  ({ mark }) => `..\\${mark}`,
  ({ mark }) => `a\\..\\..\\${mark}`,
  ({ mark }) => `C:\\${mark}`,
  ({ mark }) => `C:${mark}`,
  ({ mark }) => `\\\\server\\share\\${mark}`,
  ({ mark }) => `${mark}:stream`,
  ({ mark }) => `a\0/../${mark}`,
  ({ mark }) => `${mark}\0.txt`,
  ({ mark }) => `${mark}\n`,
  ({ mark }) => `${mark}\u001b[2J`,
  ({ mark }) => Buffer.concat([Buffer.from(mark), Buffer.from([0xff, 0xfe])]),
  ({ mark }) => Buffer.concat([Buffer.from([0x2e, 0x2e, 0xc0, 0xaf]), Buffer.from(mark)]),
  ...[".git", ".GIT", ".git ", ".git.", "git~1", "GIT~2", ".g\u200cit", ".git::$INDEX_ALLOCATION"].map(
    (folder) =>
      ({ mark }: Places) =>
        `${folder}/hooks/${mark}`,
  ),
  () => ".git",
  ...["CON", "nul.txt", "COM1", "LPT9.log", "aux.c", "a*", "a?b", "a|b", '"a"'].map((name) => () => name),
  ({ mark }) => `${mark}.`,
  ({ mark }) => `${mark} `,
  ({ mark }) => `${mark}\u202etxt.exe`,
  () => "",
  () => ".",
  () => "..",
  ({ mark }) => `a//${mark}`,
  () => "x".repeat(300),
  ({ mark }) => `${"long-name/".repeat(500)}${mark}`,
  ({ mark }) => `${"d/".repeat(70)}${mark}`,
  ({ mark }) => `~/${mark}`,
  ({ mark }) => `$(touch ${mark})`,
  ({ mark }) => `--upload-pack=touch ${mark}`,
  () => "-rf",
  () => ".gitattributes",
];

const TOGETHER: Readonly<Record<string, Contents["entries"]>> = {
  "the same name twice": () => [file("a"), file("a")],
  "names that differ in case only": () => [file("README"), file("readme")],
  "names that differ in composition only": () => [file("e\u0301"), file("\u00e9")],
  "a file below a file": () => [file("a"), file("a/b")],
  "a file where a folder is": () => [file("a/b"), file("a")],
  "a file through a link that leads out": ({ mark, outside }) => [link("l", outside), file(`l/${mark}`)],
  "a file through a link to the folder above": ({ mark }) => [link("l", ".."), file(`l/${mark}`)],
  "a file over a link that leads out": ({ mark, outside }) => [link("l", `${outside}/${mark}`), file("l")],
  "a file through a link of another case": ({ mark }) => [link("L", ".."), file(`l/${mark}`)],
  "a link that is absolute": () => [link("l", "/etc/passwd")],
  "a link to the root": () => [link("l", "/")],
  "a link out": () => [link("l", "../../etc/passwd")],
  "a link out, deep below": () => [link("a/b/l", "../../../etc/passwd")],
  "a link into what it leaves": () => [link("l", "a/../../x")],
  "links that lead out only together": () => [link("a", "."), link("b", "a/../x")],
  "links that lead out by four": () => [
    link("d/a", "."),
    link("d/b", "a/.."),
    link("d/c", "b/.."),
    link("d/e", "c/../x"),
  ],
  "links in a circle": () => [link("a", "b"), link("b", "a")],
  "a link to itself": () => [link("a", "a")],
  "a link to nothing": () => [link("a", "")],
  "a link with a zero byte": () => [link("a", "b\0/../../x")],
  "a link with a backslash": () => [link("a", "..\\x")],
  "a link of 5,000 bytes": () => [link("a", "x/".repeat(2500))],
  "a link to a device": () => [link("a", "/dev/zero")],
  "a link to the state of processes": () => [link("a", "/proc/self/environ")],
  "a step that is a link out": () => [link("step.yml", "/etc/passwd")],
  "a device": () => [{ name: "dev", type: "device" }],
  "a pipe": () => [{ name: "pipe", type: "pipe" }],
  "a program that would be root": () => [{ name: "su", type: "setuid", content: "#!/bin/sh\n" }],
  "a hard link out": () => [{ name: "h", type: "hard", target: "/etc/passwd" }],
  "a hard link to the folder above": ({ mark }) => [{ name: mark, type: "hard", target: "../../step.yml" }],
  "a hard link to a link that leads out": () => [link("l", "../../x"), { name: "h", type: "hard", target: "l" }],
  "a hard link to nothing": () => [{ name: "h", type: "hard", target: "not-there" }],
};

/** Contents that every kind of archive can have. */
export const CONTENTS: readonly Contents[] = [
  ...NAMES.map((nameOf) => ({
    name: `a file ${JSON.stringify(String(nameOf({ mark: "MARK", outside: "/outside" })).slice(0, 60))}`,
    entries: (places: Places) => [file(nameOf(places))],
  })),
  ...Object.entries(TOGETHER).map(([name, entries]) => ({ name, entries })),
];
