/**
 * Scripts for a shell in a container that may have nothing but a shell. A client of the engine that ends does not end what it has
 * started in the container, so that is found by what it leaves in `/proc`: a process of a step is in the session of the one that was
 * started, whose first argument is a mark, or has the mark in its environment.
 */

// $1 a signal; `mark` and `leaders` (numbers between blanks) are set. Gives 0 if it was sent to anybody.
const TELL =
  'tell() { t=1; sig=$1; for d in /proc/[0-9]*; do p=${d#/proc/}; [ "$p" = $$ ] && continue; ' +
  'l=; { IFS= read -r l <"$d/stat"; } 2>/dev/null; l=${l##*) }; set -- $l; ' +
  'case "$leaders" in *" ${4:-none} "*) hit=1;; *) hit=; { while IFS= read -r l || [ -n "$l" ]; do ' +
  'case "$l" in *"$mark"*) hit=1; break;; esac; done <"$d/environ"; } 2>/dev/null;; esac; ' +
  '[ -n "$hit" ] && kill -s "$sig" "$p" 2>/dev/null && t=0; done; return $t; }; ';

const RUN =
  "trap : TERM; " +
  'cd -- "$1" 2>/dev/null || { echo "The working directory \\"$1\\" does not exist in the container" >&2; exit 126; }; ' +
  'shift; (exec "$@"); code=$?; ';

/** Runs a command as `RUN_SCRIPT` does; what it leaves in the background goes on until the container ends. */
export const KEEP_SCRIPT: string = `${RUN}exit $code`;

/**
 * Runs a command: `sh -c SCRIPT mark workDir command...`. It ends as the command does, and what the command leaves in the background
 * ends with it: TERM, half a second, KILL.
 */
export const RUN_SCRIPT: string =
  `${TELL}mark=$0; leaders=" $$ "; ${RUN}` +
  "if tell TERM; then sleep 0.5 2>/dev/null || sleep 1 2>/dev/null; tell KILL; fi; exit $code";

/** Tells what `RUN_SCRIPT` runs: `sh -c SCRIPT sh signal mark`. */
export const SIGNAL_SCRIPT: string =
  `${TELL}mark=$2; leaders=" "; for d in /proc/[0-9]*; do p=\${d#/proc/}; [ "$p" = $$ ] && continue; ` +
  'l=; { IFS= read -r l <"$d/cmdline"; } 2>/dev/null; case "$l" in *"$mark"*) leaders="$leaders$p ";; esac; done; tell "$1"; :';

/** Tells what the container looks like to a step: `sh -c SCRIPT sh folder`. */
export const PROBE_SCRIPT: string =
  '[ -w "$1" ] && echo writable; command -v node >/dev/null 2>&1 && echo node; ' +
  'while read -r key value rest; do [ "$key" = Uid: ] && echo "uid=$value"; done </proc/self/status; :';
