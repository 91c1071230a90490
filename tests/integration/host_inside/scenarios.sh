#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All scenarios of hosts inside; without the public driver's module those that do not load it.
set -euo pipefail
tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}/riscv64
[ -e "$tools/vmlinuz" ] || { echo "skipped: no software of hosts inside in $tools (./dev setup)"; exit 77; }
selected=(--tag host_inside)
[ -e "$tools/neuron.ko" ] || selected+=(--tag '!driver')
exec "$1" test scenarios "${selected[@]}" -j 2
