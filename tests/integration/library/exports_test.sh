#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports_test.sh LIBRARY HEADER: the library exports the functions of its header and sc_main; names of C++ only for libraries with kinds.
set -eu
nm -D --defined-only --with-symbol-versions "$1" | sed 's/.* [A-Za-z] //' | grep -v '@@*TRNVP_PRIVATE$' | grep -v '^TRNVP_' |
    sed 's/@@*TRNVP_0$//' | sort >"${TMPDIR:-/tmp}/exported.$$"
{ grep -o 'trnvp_[a-z0-9_]*(' "$2" | tr -d '(' | grep -v '^trnvp_condition$'; echo sc_main; } | sort -u >"${TMPDIR:-/tmp}/declared.$$"
trap 'rm -f "${TMPDIR:-/tmp}/exported.$$" "${TMPDIR:-/tmp}/declared.$$"' EXIT
diff "${TMPDIR:-/tmp}/declared.$$" "${TMPDIR:-/tmp}/exported.$$"
