#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `trnvp guest` starts, in one folder: qemu-system-x86_64 (one with a vfio-user client), vmlinuz, busybox and
# the kernel's modules. Debian 12's own QEMU is too old: a newer build is unpacked beside the system, never
# installed, from the mirror that this machine's apt is set up for. Needs no root.
#
#   get_tools.sh          gets what is missing; does nothing when everything is there
#   get_tools.sh --again  try again after a failure
#   get_tools.sh --arch aarch64 [--again]
#                         the same for guests of this architecture, with its firmware, in the folder `aarch64`
#
# The folder is $TRNVP_GUEST_TOOLS, else trnvp/guest in the user's cache. If something cannot be fetched, the file
# `missing` in it (`aarch64-missing`) contains the reason, the exit status is 1, and guest tests are skipped with that
# reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
tools=${tools%/}
wanted="Linux guests"
missing=$tools/missing
architecture=x86_64
qemu_package=qemu-system-x86
data=share/seabios
if [ "${1:-}" = --arch ]; then
    [ "${2:-}" = aarch64 ] || { echo "$0: --arch is aarch64" >&2; exit 2; }
    architecture=aarch64
    qemu_package=qemu-system-arm
    data=
    missing=$tools/aarch64-missing
    tools=$tools/aarch64
    wanted="Linux guests of aarch64"
    shift 2
fi
qemu=qemu-system-$architecture
made=(missing vmlinuz busybox modules qemu "$qemu" QEMU_EFI.fd kernel-release)  # by this script
for_kernel=(efa efa.ko efa-missing ena ena-missing nvme nvme-missing)           # by others, for this kernel
# machines of their own, and the user's driver
kept=(debian13 debian13-missing aarch64 aarch64-missing riscv64 riscv64-missing neuron.ko)
newer_release=trixie  # its backports have a QEMU with the client (10.1 or later)

speaks_vfio_user() { "$1" -machine none -nodefaults -device vfio-user-pci,help 2>/dev/null | grep -q socket; }

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/private_apt.sh"
for_architecture $architecture

# unpack FOLDER SUITE PACKAGE: the package and all that it depends on
unpack() {
    local into=$1 suite=$2 package=$3 archive
    rm -rf "$work/archives" && mkdir -p "$work/archives/partial"
    apt-get "${apt_options[@]}" -y -t "$suite" --no-install-recommends --download-only install "$package" >&2 ||
        give_up "cannot download $package of $suite"
    for archive in "$work"/archives/*.deb; do dpkg-deb -x "$archive" "$into"; done
}

get_qemu() {
    local installed root=$work/qemu
    if installed=$(command -v "$qemu") && speaks_vfio_user "$installed"; then
        say "guests use $installed"
        ln -s "$installed" "$work/ready/$qemu"
        return
    fi
    say "unpacking a QEMU with a vfio-user client"
    unpack "$root" "$newer_release-backports" "$qemu_package"
    mkdir "$work/ready/qemu"
    (cd "$root/usr" && tar -c lib lib64 share/qemu $data "bin/$qemu") | tar -x -C "$work/ready/qemu"
    # Its C library may be newer than the machine's, so it runs under its own loader.
    cat >"$work/ready/$qemu" <<'WRAPPER'
#!/bin/sh
q=$(dirname "$(readlink -f "$0")")/qemu
export QEMU_MODULE_DIR="$q/lib/x86_64-linux-gnu/qemu"
exec "$q/lib64/ld-linux-x86-64.so.2" --library-path "$q/lib/x86_64-linux-gnu" "$q/bin/$(basename "$0")" \
    -L "$q/share/qemu" -L "$q/share/seabios" "$@"
WRAPPER
    chmod +x "$work/ready/$qemu"
    speaks_vfio_user "$work/ready/$qemu" || give_up "the unpacked QEMU has no vfio-user client or does not run"
}

get_kernel() {
    local root=$work/kernel package
    say "unpacking a kernel and busybox"
    package=$(kernel_of "$release")
    [ -n "$package" ] || give_up "$release has no cloud kernel"
    (cd "$work/archives" && apt-get "${apt_options[@]}" download "$package:$debian/$release" \
        "busybox-static:$debian/$release" >&2) || give_up "cannot download $package and busybox-static"
    for archive in "$work"/archives/*.deb; do dpkg-deb -x "$archive" "$root"; done
    cp "$root"/boot/vmlinuz-* "$work/ready/vmlinuz"
    local top=$root  # of bin and lib: from Debian 13 on in usr
    [ -e "$root/bin/busybox" ] || top=$root/usr
    cp "$top/bin/busybox" "$work/ready/busybox"
    cp -r "$top"/lib/modules/* "$work/ready/modules"
    # busybox loads no compressed modules, which Debian 13 has.
    find "$work/ready/modules" -name '*.ko.xz' -exec xz -d {} + || give_up "the kernel's modules cannot be unpacked (xz-utils)"
    basename "$top"/lib/modules/* >"$work/ready/kernel-release"
}

# UEFI with ACPI and SMBIOS, which QEMU does not have for this machine.
get_firmware() {
    unpack "$work/firmware" "$newer_release" qemu-efi-aarch64
    cp "$work/firmware/usr/share/qemu-efi-aarch64/QEMU_EFI.fd" "$work/ready"
}

# foreign_file: a file in the folder that has none of these names. The folder then has another purpose, and stays as it is.
foreign_file() {
    local path IFS=/
    for path in "$tools"/* "$tools"/.[!.]*; do
        [ -e "$path" ] || [ -L "$path" ] || continue
        [[ "/${made[*]}/${for_kernel[*]}/${kept[*]}/" == *"/${path##*/}/"* ]] || { printf '%s\n' "${path##*/}"; return 0; }
    done
}

[ ! -e "$tools/kernel-release" ] || exit 0
if foreign=$(foreign_file) && [ -n "$foreign" ]; then
    say "$tools has other files ($foreign): TRNVP_GUEST_TOOLS must name a new or empty folder"
    exit 1
fi
stop_if_missing "$@"
[ "$(uname -m)" = x86_64 ] || give_up "guests are for x86_64 machines"
for program in apt-get dpkg-deb; do
    command -v $program >/dev/null || give_up "there is no $program; see doc/guide-driver.md for a QEMU of your own"
done

work=$tools.new.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/ready" || give_up "cannot write $tools"
release=$(machine_release)
private_apt "$release" "$newer_release" "$newer_release-backports"
get_kernel
get_qemu
[ $architecture = x86_64 ] || get_firmware
mkdir -p "$tools"
for name in "${made[@]}" "${for_kernel[@]}"; do rm -rf "${tools:?}/$name"; done
for name in "${made[@]}"; do  # kernel-release, which says that all is there, comes after the others
    [ ! -e "$work/ready/$name" ] && [ ! -L "$work/ready/$name" ] || mv "$work/ready/$name" "$tools/"
done
say "guests: $(du -sh "$tools" | cut -f1) in $tools"
