#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian's `prometheus` and `promtool`, in one folder. They are unpacked, never installed, from the mirror that this
# machine's apt is set up for. About 19 MB are downloaded. Needs no root.
#
#   get_prometheus.sh          gets what is missing; does nothing when both are there
#   get_prometheus.sh --again  try again after a failure
#
# The folder is $TRNVP_PROMETHEUS, else trnvp/prometheus in the user's cache. Installed programs are used as they are.
# If the package cannot be fetched, the file `missing` in the folder contains the reason, the exit status is 1, and
# the tests that need it are skipped with that reason.
set -eEuo pipefail

folder=${TRNVP_PROMETHEUS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/prometheus}
wanted=Prometheus
missing=$folder/missing
programs=(prometheus promtool)

. "$(dirname "$(readlink -f "$0")")/../../platform/app/guest/fetching.sh"

[ ! -x "$folder/promtool" ] || exit 0
stop_if_missing "$@"

work=$folder.new.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{deb,unpacked} || give_up "cannot write $folder"
if installed=$(command -v promtool) && command -v prometheus >/dev/null; then
    say "Prometheus is installed: $installed"
    unpacked=$(dirname "$installed")
else
    for program in apt-get dpkg-deb; do
        command -v $program >/dev/null || give_up "there is no $program"
    done
    say "unpacking Prometheus"
    (cd "$work/deb" && apt-get -qq -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Acquire::http::Timeout=30 \
        download prometheus >&2) || give_up "cannot download prometheus"
    dpkg-deb -x "$work"/deb/prometheus_*.deb "$work/unpacked"
    unpacked=$work/unpacked/usr/bin
fi
for program in "${programs[@]}"; do
    "$unpacked/$program" --version >/dev/null 2>&1 || give_up "$program does not run"
done
mkdir -p "$folder"
for program in "${programs[@]}"; do  # promtool, which says that both are there, comes last
    cp "$unpacked/$program" "$folder/$program.new"
    mv "$folder/$program.new" "$folder/$program"
done
rm -f "$missing"
say "Prometheus: $(du -sh "$folder" | cut -f1) in $folder"
