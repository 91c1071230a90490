#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What guests with EFA cards run, beside the tools of get_tools.sh: the driver of Debian's kernel source, unmodified
# (no Debian kernel has it built), and a root folder with rdma-core, perftest and their libraries. Needs no root,
# installs nothing.
#
#   get_efa.sh          gets what is missing; does nothing when everything is there
#   get_efa.sh --again  try again after a failure
#
# The folder is `efa` in that of get_tools.sh. If something cannot be fetched, the file `efa-missing` contains the
# reason, the exit status is 1, and the tests that need it are skipped with that reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
wanted="EFA driver for guests"
missing=$tools/efa-missing
programs=(ibv_devinfo ib_send_bw ib_send_lat ib_read_bw ib_read_lat)

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/guest_root.sh"

[ -e "$tools/kernel-release" ] || { say "no $wanted: there are no guests"; exit 1; }
[ ! -e "$tools/efa/efa.ko" ] || exit 0
stop_if_missing "$@"

work=$tools/efa.new.$$
trap 'rm -rf "$work"' EXIT
root=$work/ready/root
mkdir -p "$work"/{headers,driver} "$root"/{bin,etc/libibverbs.d,usr/lib/x86_64-linux-gnu/libibverbs}
release=$(cat "$tools/kernel-release")   # 6.1.0-50-cloud-amd64
version=${release%%-*}                   # 6.1.0
series=${version%.*}                     # 6.1
common=${release%-cloud-*}               # 6.1.0-50

say "building the EFA driver of Linux $series for the guest's kernel"
download "linux-source-$series" "linux-headers-$release" "linux-headers-$common-common" "linux-kbuild-$series" ||
    give_up "cannot download the source of Linux $series and the headers of $release"
for archive in "$work"/deb/linux-headers-* "$work"/deb/linux-kbuild-*; do dpkg-deb -x "$archive" "$work/headers"; done
headers=$work/headers/usr/src/linux-headers-$release
# The headers name each other by absolute paths.
sed -i "s#/usr/src/#$work/headers/usr/src/#" "$headers/Makefile"
dpkg-deb --fsys-tarfile "$work"/deb/linux-source-*.deb |
    tar -x -O "./usr/src/linux-source-$series.tar.xz" |
    tar -x -J -C "$work/driver" --strip-components=5 "linux-source-$series/drivers/infiniband/hw/efa"
# Without type information, which needs pahole.
make -s -C "$headers" M="$work/driver" CONFIG_INFINIBAND_EFA=m CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2 ||
    give_up "the driver cannot be built"

say "unpacking rdma-core and perftest for guests"
unpack ibverbs-providers ibverbs-utils perftest
for program in "${programs[@]}"; do cp "$work/user/usr/bin/$program" "$root/bin"; done
cp -L "$work/user/$libraries"/libibverbs/libefa-*.so "$root/$libraries/libibverbs/"
cp "$work/user/etc/libibverbs.d/efa.driver" "$root/etc/libibverbs.d/"
add_libraries "$root" "$root/$libraries"/libibverbs/*.so
cp "$work/driver/efa.ko" "$work/ready/efa.ko"
rm -rf "$tools/efa"
mv "$work/ready" "$tools/efa"
say "EFA in guests: $(du -sh "$tools/efa" | cut -f1) in $tools/efa"
