#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# board_pictures.sh TRNVP FOLDER [--check]: rewrites the pictures of boards; with --check fails if
# one is stale.
set -eu
trnvp=$1
folder=$2
status=0
for board in trn3-sled trn3-gen1 trn3-gen2 trn2-48xl trn2-ultraserver trn1-32xl inf2-48xl; do
    if [ "${3:-}" = --check ]; then
        "$trnvp" inspect "$board" --graph svg | cmp -s - "$folder/$board.svg" ||
            { echo "$folder/$board.svg is stale: run ./dev docs" >&2; status=1; }
    else
        "$trnvp" inspect "$board" --graph svg >"$folder/$board.svg"
    fi
done
exit $status
