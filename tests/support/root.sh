#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# root.sh [--clean] RELEASE COMMAND [ARGS...]: runs COMMAND in this checkout, in a root folder of that release of Debian, which debootstrap
# makes at the first use. The checkout keeps its path in the root, except for its build folders: each root has its own. What was installed
# in a root stays there; with --clean COMMAND has a new root of its own, without more packages than a minimal Debian, which is removed
# afterwards. Needs root: `./dev root` calls it through sudo.
#
# The roots are in $TRNVP_ROOTS, which `./dev root` sets to ~/.cache/trnvp/roots otherwise.
set -euo pipefail

checkout=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
roots=${TRNVP_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/roots}

stop() { printf 'dev: %s\n' "$@" >&2; exit 2; }

clean=
[ "${1:-}" != --clean ] || { clean=1; shift; }
release=${1:-}
case $release in bookworm | trixie) ;; *) stop "no release '$release'; releases are: bookworm trixie" ;; esac
[ $# -gt 1 ] || stop "root: a command is missing, for example: ./dev root $release ./dev test"
[ "$(id -u)" -eq 0 ] || stop "root: needs root"
command -v debootstrap >/dev/null || stop "root: debootstrap is missing; on Debian: apt install debootstrap"
shift

# A root appears under its name when it is complete.
make_root() {  # make_root NAME
    local made=$roots/$1.$$
    mkdir -p "$roots"
    trap 'rm -rf --one-file-system "$made"' EXIT
    debootstrap --variant=minbase --include=ca-certificates "$release" "$made" >"$roots/$1.log" ||
        stop "root: debootstrap failed; its messages are in $roots/$1.log"
    echo "deb http://deb.debian.org/debian $release-updates main" >>"$made/etc/apt/sources.list"
    # Without init there are no services to start.
    printf '#!/bin/sh\nexit 101\n' >"$made/usr/sbin/policy-rc.d"
    chmod +x "$made/usr/sbin/policy-rc.d"
    # Not into the one that another call has made meanwhile.
    mv -T "$made" "$roots/$1" 2>/dev/null || rm -rf --one-file-system "$made"
    trap - EXIT
}

if [ -n "$clean" ]; then
    [ -d "$roots/$release-minimal" ] || make_root "$release-minimal"
    root=$roots/$release-clean.$$
    trap 'rm -rf --one-file-system "$root"' EXIT
    cp -a --reflink=auto "$roots/$release-minimal" "$root"
else
    [ -d "$roots/$release" ] || make_root "$release"
    root=$roots/$release
fi
archives=$roots/$release-archives  # downloaded packages
mkdir -p "$archives/partial"
mkdir -p "$root$checkout"
cp /etc/resolv.conf "$root/etc/resolv.conf"
for name in build build-asan build-coverage build-clang; do
    mkdir -p "$checkout/$name" "$roots/$release-builds$checkout/$name"
done

# Mounts end with the namespace, however the command ends.
export root checkout roots release archives
unshare --mount bash -euc '
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --bind "$archives" "$root/var/cache/apt/archives"
    mount --bind "$checkout" "$root$checkout"
    for name in build build-asan build-coverage build-clang; do
        mount --bind "$roots/$release-builds$checkout/$name" "$root$checkout/$name"
    done
    exec chroot "$root" env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 ${CI:+CI="$CI"} \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="*" \
        bash -c "cd \"\$1\" && shift && exec \"\$@\"" root.sh "$checkout" "$@"
' root.sh "$@"
