#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# same_console.sh TRNVP FOLDER: runs the example's scenario with the RTL and with the model, and compares what the firmware prints.
set -eu
trnvp=$(readlink -f "$1") folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed() { echo "line ${BASH_LINENO[0]}: $*"; exit 1; }
cd "$folder"
"$trnvp" test scenario.yaml || failed "the scenario failed"
for uart in rtl_uart uart; do
    "$trnvp" run ./board.yaml --set uart=$uart --until ready --max-time '1 s' --uart "$scratch/$uart" || failed "$uart"
done
# Ports of the RTL and signals of models are in one file: characters were sent, and the clock stopped.
"$trnvp" run ./board.yaml --until ready --max-time '1 s' --uart none --vcd "$scratch/waves.vcd" \
    --vcd-signal 'chip0.management.uart.pins.*' --vcd-signal chip0.management.cpu.awake || failed "waveforms"
grep -q ' awake ' "$scratch/waves.vcd" || failed "no signal of a model"
code=$(sed -n 's/^.var wire 1 \([^ ]*\) txd .*/\1/p' "$scratch/waves.vcd")
[ "$(grep -cF "0$code" "$scratch/waves.vcd")" -gt 300 ] || failed "txd does not change"
# Without the times of lines. The model prints a character when it is written, the RTL when its last bit has left: the last ones are on
# the line.
for uart in rtl_uart uart; do sed -i 's/^\[ *[0-9.]* ms\] //' "$scratch/$uart"; done
expected=$(cat "$scratch/uart") printed=$(cat "$scratch/rtl_uart")
[ "${#printed}" -gt 300 ] || failed "only $printed"
[ "${expected#"$printed"}" != "$expected" ] || failed "the consoles differ: $printed"
