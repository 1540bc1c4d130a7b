import { randomBytes } from "node:crypto";

/** How groups are marked: as GitHub's log viewer reads it, or as GitLab's. */
export type GroupStyle = "github" | "gitlab";

/** Prints the marks of groups. As on GitHub they do not nest: a group that begins ends the one that is open. */
export interface GroupMarks {
  open(title: string): string;
  /** Returns the mark of a group's end; undefined where a mark without its group would be wrong. */
  end(): string | undefined;
  /** Returns the text that remains to be printed when the process has ended; undefined for none. */
  close(): string | undefined;
}

/** The marks of one process. GitLab's sections have random names. */
export function createGroupMarks(style: GroupStyle, now: () => number): GroupMarks {
  return style === "gitlab" ? gitlabMarks(now) : githubMarks();
}

// A viewer of GitHub's logs ends an open group at the end of the log.
function githubMarks(): GroupMarks {
  return { open: (title) => `##[group]${title}`, end: () => "##[endgroup]", close: () => undefined };
}

function gitlabMarks(now: () => number): GroupMarks {
  let name: string | undefined;
  const seconds = (): number => Math.floor(now() / 1000);
  const close = (): string | undefined => {
    const mark = name === undefined ? undefined : `section_end:${seconds()}:${name}\r\u001B[0K`;
    name = undefined;
    return mark;
  };
  return {
    open(title) {
      const ended = close();
      // Nothing that a step prints on purpose can end it.
      name = `action_group_${randomBytes(8).toString("hex")}`;
      // A title of several lines, or one that moves the cursor, would break the mark.
      const safe = title.replaceAll(/[\0-\x08\n-\x1A\x1C-\x1F]+/g, " ");
      return `${ended ?? ""}section_start:${seconds()}:${name}[collapsed=true]\r\u001B[0K${safe}`;
    },
    end: close,
    close,
  };
}
