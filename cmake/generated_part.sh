#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# generated_part.sh DOCUMENT NAME [--check] COMMAND...: replaces the text between the lines "<!--
# NAME: generated" and "<!-- NAME: end" of DOCUMENT by the output of COMMAND; with --check fails if
# they differ.
set -eu
document=$1
name=$2
shift 2
check=
if [ "$1" = --check ]; then
    check=1
    shift
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
text=$("$@")
TEXT=$text awk -v begin="<!-- $name: generated" -v end="<!-- $name: end" '
    index($0, end) == 1 { inside = 0 }
    !inside { print }
    index($0, begin) == 1 { print ENVIRON["TEXT"]; inside = 1 }' "$document" >"$new"
if cmp -s "$new" "$document"; then exit 0; fi
[ -z "$check" ] || { echo "$document: the part '$name' is stale: run ./dev docs" >&2; exit 1; }
cat "$new" >"$document"
