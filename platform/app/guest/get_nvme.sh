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

. "$(dirname "$(readlink -f "$0")")/guest_root.sh"

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

give_up() {
    trap - ERR
    say "no disk tools for guests: $*"
    printf '%s\n' "$*" >"$tools/nvme-missing"
    exit 1
}

[ -e "$tools/kernel-release" ] || { say "no disk tools for guests: there are no guests"; exit 1; }
[ ! -e "$tools/nvme/root" ] || exit 0
if [ -e "$tools/nvme-missing" ] && [ "${1:-}" != --again ]; then
    say "no disk tools for guests: $(cat "$tools/nvme-missing")  ('./dev setup' tries again)"
    exit 1
fi
trap 'give_up "get_nvme.sh: line $LINENO failed"' ERR

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
