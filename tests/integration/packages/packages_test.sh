#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# packages_test.sh BUILD [CPACK]: makes the Debian packages of a build, then installs, uses and removes them in a clean root of this
# release (in_clean_root.sh). By itself, after ./dev package: sudo tests/integration/packages/packages_test.sh build
set -euo pipefail
build=$(readlink -f "$1") cpack=${2:-cpack}
here=$(dirname "$(readlink -f "$0")")
skip() { echo "skipped: $*"; exit 77; }

[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null || skip "dpkg-dev and file are not installed"
. /etc/os-release
case ${VERSION_CODENAME:-} in bookworm | trixie) ;; *) skip "this is neither Debian 12 nor 13" ;; esac
getent hosts deb.debian.org >/dev/null || skip "deb.debian.org is not reached"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cpack" --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }
tar -C "$scratch" -c --transform 's,.*/,,' "$scratch"/*.deb 2>/dev/null |
    "$here/../../support/root.sh" --clean "$VERSION_CODENAME" "$here/in_clean_root.sh"
