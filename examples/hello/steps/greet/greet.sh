#!/bin/sh
set -eu
line="$1${2:+ $2}"
echo "$line"
printf '{"name": "line", "value": "%s"}\n' "$line" >>"$3"
