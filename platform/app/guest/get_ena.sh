#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What guests with ENA cards run, beside the tools of get_tools.sh: a root folder with iperf3, an SSH server and
# client (dropbear) and their libraries. The driver is the one of Debian's kernel. Needs no root, installs nothing.
#
#   get_ena.sh          gets what is missing; does nothing when everything is there
#   get_ena.sh --again  try again after a failure
#
# The folder is `ena` in that of get_tools.sh. If something cannot be fetched, the file `ena-missing` contains the
# reason, the exit status is 1, and the tests that need it are skipped with that reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
wanted="network programs for guests"
missing=$tools/ena-missing
programs=(iperf3 dbclient dropbearkey)

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/guest_root.sh"

[ -e "$tools/kernel-release" ] || { say "no $wanted: there are no guests"; exit 1; }
[ ! -e "$tools/ena" ] || exit 0
stop_if_missing "$@"

work=$tools/ena.new.$$
trap 'rm -rf "$work"' EXIT
root=$work/ready/root
mkdir -p "$root/bin"

say "unpacking iperf3 and dropbear for guests"
unpack iperf3 dropbear-bin
for program in "${programs[@]}"; do cp "$work/user/usr/bin/$program" "$root/bin"; done
cp "$work/user/usr/sbin/dropbear" "$root/bin"
add_libraries "$root"
mv "$work/ready" "$tools/ena"
say "network programs in guests: $(du -sh "$tools/ena" | cut -f1) in $tools/ena"
