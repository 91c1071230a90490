#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What guests with NVMe disks run, beside the tools of get_tools.sh: fio, mkfs.ext4 and fsck.ext4 of Debian with
# their libraries, as a root folder. The driver is built into the guest's kernel. Needs no root, installs nothing.
#
#   get_nvme.sh          gets what is missing; does nothing when everything is there
#   get_nvme.sh --again  try again after a failure
#
# The folder is `nvme` in that of get_tools.sh. If something cannot be fetched, the file `nvme-missing` contains the
# reason, the exit status is 1, and the tests that need it are skipped with that reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
wanted="disk tools for guests"
missing=$tools/nvme-missing

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/guest_root.sh"

[ -e "$tools/kernel-release" ] || { say "no $wanted: there are no guests"; exit 1; }
[ ! -e "$tools/nvme/root" ] || exit 0
stop_if_missing "$@"

work=$tools/nvme.new.$$
trap 'rm -rf "$work"' EXIT
root=$work/ready/root
mkdir -p "$root"/{bin,etc}

say "unpacking fio and e2fsprogs for guests"
unpack fio e2fsprogs
cp "$work/user/usr/bin/fio" "$root/bin"
cp "$work/user/sbin/mke2fs" "$root/bin/mkfs.ext4"  # busybox has a mke2fs of its own
cp "$work/user/sbin/e2fsck" "$root/bin/fsck.ext4"
cp "$work/user/etc/mke2fs.conf" "$root/etc"
add_libraries "$root"
rm -rf "$tools/nvme"
mv "$work/ready" "$tools/nvme"
say "disk tools in guests: $(du -sh "$tools/nvme" | cut -f1) in $tools/nvme"
