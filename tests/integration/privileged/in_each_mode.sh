#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: in_each_mode.sh TRNVP PROGRAM. Executes PROGRAM on a hart with every extension in each mode of
# the hart; fails if the program's status, the number of its failed check, is not 0.
set -uo pipefail
status=0
for mode in interpret translate check; do
    "$1" exec --isa rv64imafdcb_zicbom_zicboz_zicond_zifencei_sstc_svadu --hart "$mode" \
        --max-instructions 1000000 "$2"
    result=$?
    if [ $result -ne 0 ]; then
        echo "$(basename "$2"): check $result failed in mode $mode"
        status=1
    fi
done
exit $status
