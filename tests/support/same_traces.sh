#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# same_traces.sh: the trace of each scenario has the same digest by the programs of both releases of Debian, which have
# different compilers and SystemC, and by g++ and clang. All run the firmware of the first of them, since firmware of another
# compiler has traces of its own. `./dev traces` calls it.
#
#   same_traces.sh                          builds and runs all, and compares
#   same_traces.sh --one PRESET [FIRMWARE]  in a root: prints the digests of this release's program
set -euo pipefail
cd "$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")"

if [ "${1:-}" = --one ]; then
    preset=$2 folder=build made=build/same_traces
    [ "$preset" = default ] || folder=build-$preset
    cmake --preset "$preset" >&2
    cmake --build --preset "$preset" --target trnvp trnvp-test firmware >&2
    rm -rf "$made"
    # Hosts that are processes of their own run freely; the status says whether scenarios passed, which is not asked here.
    TRNVP_FIRMWARE=${3:-$PWD/$folder/firmware} "$folder/trnvp" test scenarios --digest --report "$made" \
        --tag '!clients' --tag '!figures' -j "$(nproc)" >&2 || [ $? -eq 1 ]
    cat "$made/digests.txt"
    exit
fi

roots=${TRNVP_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/roots}
firmware=$roots/bookworm-builds$PWD/build/firmware
out=build-traces  # roots have it too, unlike build/
rm -rf "$out" && mkdir -p "$out"
for release in bookworm trixie; do
    ./dev root "$release" ./dev setup
    ./dev root "$release" apt-get -qq -y install clang-19 >/dev/null
    for preset in default clang; do
        [ -z "${first:-}" ] || [ -d "$out/firmware" ] || cp -r "$firmware" "$out"
        ./dev root "$release" tests/support/same_traces.sh --one "$preset" \
            ${first:+"$PWD/$out/firmware"} >"$out/$release-$preset"
        first=${first:-$out/$release-$preset}
        [ "$(grep -vc '^0000000000000000 ' "$out/$release-$preset")" -ge 150 ] || { echo "too few scenarios ran" >&2; exit 1; }
        diff "$first" "$out/$release-$preset" || different=1
        echo "$release, $preset: $(wc -l <"$out/$release-$preset") traces" >&2
    done
done
[ -z "${different:-}" ] || { echo "traces differ: $out" >&2; exit 1; }
