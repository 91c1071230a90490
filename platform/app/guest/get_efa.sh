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
packages=(ibverbs-providers ibverbs-utils libibumad3 libibverbs1 libnl-3-200 libnl-route-3-200 libpci3 librdmacm1
    libudev1 perftest zlib1g libc6)
programs=(ibv_devinfo ib_send_bw ib_send_lat ib_read_bw ib_read_lat)

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

give_up() {
    trap - ERR
    say "no EFA driver for guests: $*"
    printf '%s\n' "$*" >"$tools/efa-missing"
    exit 1
}

[ -e "$tools/kernel-release" ] || { say "no EFA driver for guests: there are no guests"; exit 1; }
[ ! -e "$tools/efa/efa.ko" ] || exit 0
if [ -e "$tools/efa-missing" ] && [ "${1:-}" != --again ]; then
    say "no EFA driver for guests: $(cat "$tools/efa-missing")  ('./dev setup' tries again)"
    exit 1
fi
trap 'give_up "get_efa.sh: line $LINENO failed"' ERR

work=$tools/efa.new.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{deb,root,driver,ready/root}
release=$(cat "$tools/kernel-release")   # 6.1.0-50-cloud-amd64
version=${release%%-*}                   # 6.1.0
series=${version%.*}                     # 6.1
common=${release%-cloud-*}               # 6.1.0-50

download() { (cd "$work/deb" && apt-get -qq -o APT::Sandbox::User=root download "$@" >&2); }

say "building the EFA driver of Linux $series for the guest's kernel"
download "linux-source-$series" "linux-headers-$release" "linux-headers-$common-common" "linux-kbuild-$series" ||
    give_up "cannot download the source of Linux $series and the headers of $release"
for archive in "$work"/deb/linux-headers-* "$work"/deb/linux-kbuild-*; do dpkg-deb -x "$archive" "$work/root"; done
headers=$work/root/usr/src/linux-headers-$release
# The headers name each other by absolute paths.
sed -i "s#/usr/src/#$work/root/usr/src/#" "$headers/Makefile"
dpkg-deb --fsys-tarfile "$work"/deb/linux-source-*.deb |
    tar -x -O "./usr/src/linux-source-$series.tar.xz" |
    tar -x -J -C "$work/driver" --strip-components=5 "linux-source-$series/drivers/infiniband/hw/efa"
make -s -C "$headers" M="$work/driver" CONFIG_INFINIBAND_EFA=m modules >&2 || give_up "the driver cannot be built"

say "unpacking rdma-core and perftest for guests"
rm -f "$work"/deb/*
download "${packages[@]}" || give_up "cannot download ${packages[*]}"
for archive in "$work"/deb/*.deb; do dpkg-deb -x "$archive" "$work/user"; done
mkdir -p "$work/ready/root"/{bin,lib64,etc/libibverbs.d,usr/lib/x86_64-linux-gnu}
for program in "${programs[@]}"; do cp "$work/user/usr/bin/$program" "$work/ready/root/bin"; done
# Only the libraries that the loader needs: a guest's folder has no symbolic links.
for library in "$work"/user/{,usr/}lib/x86_64-linux-gnu/*.so.{[0-9],[0-9][0-9][0-9]}; do
    [ ! -e "$library" ] || cp -L "$library" "$work/ready/root/usr/lib/x86_64-linux-gnu/"
done
cp -L "$work/user/lib/x86_64-linux-gnu/libc.so.6" "$work/ready/root/usr/lib/x86_64-linux-gnu/"
mkdir "$work/ready/root/usr/lib/x86_64-linux-gnu/libibverbs"
cp -L "$work"/user/usr/lib/x86_64-linux-gnu/libibverbs/libefa-*.so "$work/ready/root/usr/lib/x86_64-linux-gnu/libibverbs/"
cp -L "$work/user/lib64/ld-linux-x86-64.so.2" "$work/ready/root/lib64/"
cp "$work/user/etc/libibverbs.d/efa.driver" "$work/ready/root/etc/libibverbs.d/"
cp "$work/driver/efa.ko" "$work/ready/efa.ko"
rm -rf "$tools/efa"
mv "$work/ready" "$tools/efa"
say "EFA in guests: $(du -sh "$tools/efa" | cut -f1) in $tools/efa"
