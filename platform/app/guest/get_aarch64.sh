#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Guests of aarch64 (`trnvp guest --arch aarch64`): the tools of `get_tools.sh --arch aarch64`, and the EFA driver of
# Debian's kernel source, unmodified, built by Debian's cross compiler. ENA is a module of the kernel, NVMe is built
# in. Needs no root, installs nothing.
#
#   get_aarch64.sh          gets what is missing; does nothing when everything is there
#   get_aarch64.sh --again  try again after a failure
#   get_aarch64.sh --build FOLDER
#                           build the kernel modules in FOLDER for this kernel
#
# The folder is `aarch64` in that of get_tools.sh. If something cannot be fetched, the file `aarch64-missing` beside it
# or `efa-missing` in it contains the reason, the exit status is 1, and the tests that need it are skipped with that
# reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}/aarch64
wanted="EFA driver for guests of aarch64"
missing=$tools/efa-missing

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/private_apt.sh"
. "$scripts/kernel_build.sh"
for_architecture aarch64
suite=$(machine_release)

[ "${1:-}" = --build ] || "$scripts/get_tools.sh" --arch aarch64 "$@" || exit 1
[ -e "$tools/kernel-release" ] || { say "there are no guests of aarch64: './dev setup' first"; exit 1; }
if [ "${1:-}" = --build ]; then
    trap 'say "get_aarch64.sh: line $LINENO failed"' ERR
    give_up() { say "$*"; exit 1; }
else
    [ ! -e "$tools/efa.ko" ] || exit 0
    stop_if_missing "$@"
fi
command -v "${cross}gcc" >/dev/null || give_up "there is no ${cross}gcc: './dev setup' installs it"
release=$(cat "$tools/kernel-release")  # 6.1.0-50-cloud-arm64
work=$tools.new.$$
build=$work/build
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
private_apt "$suite"
get_headers
if [ "${1:-}" = --build ]; then
    build_modules "$(readlink -f "$2")" || give_up "the modules in $2 cannot be built"
    exit 0
fi
build_efa_driver "$tools/efa.ko"
rm -f "$missing"
