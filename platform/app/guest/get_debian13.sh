#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second guest, of Debian 13, for EFA software for which Debian 12's is too old: RDMA write, and device ids up to
# 0xefa3. Its kernel, the modules that are needed, the EFA driver of Debian's kernel source, unmodified (no Debian
# kernel has it built), and two root folders: `root` with rdma-core, perftest and libfabric, `mpi` with Open MPI and
# Python's bindings of MPI and verbs. About 225 MB are downloaded, 153 MB of these the kernel's source. Needs no
# root, installs nothing.
#
#   get_debian13.sh          gets what is missing; does nothing when everything is there
#   get_debian13.sh --again  try again after a failure
#   get_debian13.sh --build FOLDER
#                            build the kernel modules in FOLDER for this kernel
#
# The folder is `debian13` in that of get_tools.sh. If something cannot be fetched, the file `debian13-missing`
# contains the reason, the exit status is 1, and the tests that need it are skipped with that reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
wanted="Debian 13 guests"
missing=$tools/debian13-missing
suite=trixie
libraries=usr/lib/x86_64-linux-gnu
modules=(ib_core ib_uverbs failover net_failover virtio_net)
programs=(fi_info fi_pingpong ib_read_bw ib_read_lat ib_send_bw ib_send_lat ib_write_bw ib_write_lat ibv_devinfo)
packages=(ibverbs-providers ibverbs-utils libc6 libcap2 libfabric-bin libfabric1 libibumad3 libibverbs1 libnl-3-200
    libnl-route-3-200 libnuma1 libpci3 libpsm2-2 librdmacm1t64 libudev1 perftest zlib1g)
mpi_packages=(libevent-core-2.1-7t64 libevent-pthreads-2.1-7t64 libexpat1 libffi8 libhwloc15 libmunge2 libopenmpi40
    libpmix2t64 libpython3.13 libpython3.13-minimal libpython3.13-stdlib libucx0 openmpi-bin openmpi-common python3-mpi4py
    python3-pyverbs python3.13-minimal)

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/private_apt.sh"
. "$scripts/kernel_build.sh"

# The programs of Debian 13 run under its own loader, because the machine may have another C library.
loader() { "$work/unpacked/usr/lib64/ld-linux-x86-64.so.2" --inhibit-cache --library-path "$work/unpacked/$libraries" "$@"; }

unpack() { unpack_into "$work/unpacked" "$@"; }

get_kernel() {
    local module
    say "unpacking the kernel $release"
    unpack "$image"
    cp "$work/unpacked/boot/vmlinuz-$release" "$work/ready/vmlinuz"
    for module in "${modules[@]}"; do
        find "$work/unpacked/usr/lib/modules/$release" -name "$module.ko.xz" -exec xz -dc {} + \
            >"$work/ready/modules/$module.ko"
    done
}

# build_for_guest FOLDER: modules of another source, for the kernel that is there.
build_for_guest() {
    trap 'say "get_debian13.sh: line $LINENO failed"' ERR
    give_up() { say "$*"; exit 1; }
    private_apt "$suite"
    release=$(grep -a -o 'vermagic=[^ ]*' "$tools/debian13/efa.ko" | cut -d = -f 2)
    get_headers
    build_modules "$(readlink -f "$1")" || give_up "the modules in $1 cannot be built"
}

# add_libraries ROOT: adds only the libraries that the loader needs; a guest's folder has no symbolic links.
add_libraries() {
    local file
    mkdir -p "$1/$libraries"
    find "$1" -type f -perm -1 -o -name '*.so' | while read -r file; do loader --list "$file" 2>/dev/null || true; done |
        awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r file; do cp -L "$file" "$1/$libraries"; done
}

get_programs() {
    local root=$work/ready/root from=$work/unpacked program
    say "unpacking rdma-core, perftest and libfabric"
    mkdir -p "$root"/{bin,lib64,etc/libibverbs.d,$libraries/libibverbs}
    for program in "${programs[@]}"; do cp "$from/usr/bin/$program" "$root/bin"; done
    cp -L "$from/usr/lib64/ld-linux-x86-64.so.2" "$root/lib64"
    cp -L "$from/$libraries"/libibverbs/libefa-*.so "$root/$libraries/libibverbs"
    cp "$from/etc/libibverbs.d/efa.driver" "$root/etc/libibverbs.d"
    add_libraries "$root"
}

[ -e "$tools/kernel-release" ] || { say "no $wanted: there are no guests"; exit 1; }
if [ "${1:-}" = --build ]; then
    [ -e "$tools/debian13/mpi" ] || { say "there are no Debian 13 guests: './dev setup' first"; exit 1; }
    work=$tools/debian13.new.$$
    build=$work/build
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work"
    build_for_guest "$2"
    exit 0
fi
[ ! -e "$tools/debian13/mpi" ] || exit 0
stop_if_missing "$@"

work=$tools/debian13.new.$$
build=$work/build
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/ready/modules"
private_apt "$suite"
image=$(kernel_of "$suite")
[ -n "$image" ] || give_up "$suite has no cloud kernel"
release=${image#linux-image-}  # 6.12.117+deb13-cloud-amd64
unpack "${packages[@]}"
get_kernel
get_headers
build_efa_driver "$work/ready/efa.ko"
get_programs
unpack "${mpi_packages[@]}"
get_mpi
rm -rf "$tools/debian13"
rm -f "$missing"
mv "$work/ready" "$tools/debian13"
say "Debian 13 guests: $(du -sh "$tools/debian13" | cut -f1) in $tools/debian13"
