#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Debian's kernel for riscv64 as the file `vmlinuz` in $TRNVP_STOCK_KERNEL, or else in
# trnvp/stock in the user's cache. It comes from the mirror configured in apt and is not installed.
# After a failure the file `missing` contains the reason, and the test that boots the kernel is
# skipped with that reason; --again retries.
set -euo pipefail

folder=${TRNVP_STOCK_KERNEL:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/stock}
[ -s "$folder/vmlinuz" ] && exit 0
[ "${1:-}" = --again ] && rm -f "$folder/missing"
[ -e "$folder/missing" ] && exit 1
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

give_up() {
    printf '%s\n' "$*" >"$folder/missing"
    exit 1
}

mkdir -p "$work"/{lists/partial,archives/partial}
: >"$work/status"
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -v security | head -n 1)
[ -n "$uri" ] || give_up "apt knows no Debian mirror"
options=(-qq -o APT::Architecture=riscv64 -o APT::Architectures=riscv64 -o "Dir::State=$work"
    -o "Dir::State::status=$work/status" -o "Dir::Cache=$work" -o "Dir::Etc::SourceList=$work/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Retries=2 -o Acquire::http::Timeout=30)

# fetch SUITE: the image is in the package that the metapackage depends on, or in `linux-binary` of
# it
fetch() {
    local image package
    echo "deb [arch=riscv64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $1 main" >"$work/sources.list"
    apt-get "${options[@]}" update >&2 || return 1
    image=$(apt-cache "${options[@]}" depends linux-image-riscv64 | grep -om1 'linux-image-[0-9][^ ]*') || return 1
    for package in "${image/linux-image/linux-binary}" "$image"; do
        (cd "$work" && apt-get "${options[@]}" download "$package" >&2) || continue
        dpkg-deb -x "$work/$package"_*.deb "$work/unpacked"
        file=$(find "$work/unpacked" -name 'vmlinu[xz]*' -type f -size +1M | head -n 1)
        [ -n "$file" ] || continue
        cp "$file" "$folder/vmlinuz.part" && mv "$folder/vmlinuz.part" "$folder/vmlinuz"
        echo "$package" >"$folder/package"
        return 0
    done
    return 1
}

for suite in trixie sid; do
    fetch "$suite" && exit 0
done
give_up "no kernel for riscv64 at $uri (tests/integration/stock/get_kernel.sh --again tries again)"
