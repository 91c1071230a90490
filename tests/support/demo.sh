#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `./dev demo`: simulates a chip in one process; a driver in another process copies real data to it.
set -euo pipefail

sockets=$(mktemp -d)
platform=
cleanup() {
    [ -z "$platform" ] || kill "$platform" 2>/dev/null || true
    rm -rf "$sockets"
}
trap cleanup EXIT

echo "\$ trnvp run trn3-chip --listen DIR"
build/trnvp run trn3-chip --listen "$sockets" --uart none &
platform=$!
for _ in $(seq 200); do
    [ ! -S "$sockets/control.sock" ] || break
    kill -0 "$platform" || exit 1
    sleep 0.05
done

echo
echo "\$ trnctl --connect DIR demo"
build/trnctl --connect "$sockets" demo "$@"
echo
echo "\$ trnctl --connect DIR info"
build/trnctl --connect "$sockets" info
