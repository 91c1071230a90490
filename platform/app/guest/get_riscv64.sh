#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The software of a riscv64 Linux machine, from Debian 13's packages: kernel, the modules that are needed, the EFA
# driver of Debian's kernel source, unmodified (no Debian kernel has it built), busybox, what builds other modules, and
# root folders: `root` with rdma-core, perftest and libfabric, `net` with iperf3 and dropbear, `disk` with
# e2fsprogs, `mpi` with Open MPI and Python's bindings of MPI and verbs. About 300 MB are downloaded, 153 MB of these
# the kernel's source. Needs no root, installs nothing.
#
#   get_riscv64.sh          gets what is missing; does nothing when everything is there
#   get_riscv64.sh --again  try again after a failure
#   get_riscv64.sh --build FOLDER
#                           build the kernel modules in FOLDER for this kernel, by riscv64-linux-gnu-gcc
#
# The folder is `riscv64` in that of get_tools.sh:
#   vmlinuz                  the kernel, not compressed    config, release
#   fw_dynamic.bin           OpenSBI, which starts it
#   modules/NAME.ko          with all that they depend on; modules.dep, as of depmod
#   build/                   headers and programs of the kernel's build
# If something cannot be fetched, the file `riscv64-missing` contains the reason, the exit status is 1, and the tests
# that need it are skipped with that reason.
set -eEuo pipefail

tools=${TRNVP_GUEST_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/trnvp/guest}
wanted="riscv64 machines"
missing=$tools/riscv64-missing
suite=trixie
libraries=usr/lib/riscv64-linux-gnu
modules=(nvme ib_uverbs rdma_ucm ena virtio_net virtio_blk ext4 crc32c_generic nd_pmem of_pmem)
root_programs=(fi_info fi_pingpong ib_read_bw ib_read_lat ib_send_bw ib_send_lat ib_write_bw ib_write_lat ibv_devinfo)
net_programs=(iperf3 dbclient dropbearkey)
packages=(busybox-static ibverbs-providers ibverbs-utils libc6 libcap2 libfabric-bin libfabric1 libgcc-s1 libibumad3
    libibverbs1 libnl-3-200 libnl-route-3-200 libnuma1 libpci3 librdmacm1t64 libudev1 perftest zlib1g)
net_packages=(dropbear-bin iperf3 libcrypt1 libiperf0 libsctp1 libssl3t64 libtomcrypt1 libtommath1
    libgmp10 libzstd1)
disk_packages=(e2fsprogs libblkid1 libcom-err2 libext2fs2t64 libss2 libuuid1)
mpi_packages=(libevent-core-2.1-7t64 libevent-pthreads-2.1-7t64 libexpat1 libffi8 libhwloc15 libmunge2 libopenmpi40
    libpmix2t64 libpython3.13 libpython3.13-minimal libpython3.13-stdlib libucx0 openmpi-bin python3-mpi4py
    python3-pyverbs python3.13-minimal)

scripts=$(dirname "$(readlink -f "$0")")
. "$scripts/fetching.sh"
. "$scripts/private_apt.sh"
. "$scripts/kernel_build.sh"
for_architecture riscv64

# unpack PACKAGE...: of this architecture
unpack() { unpack_into "$work/unpacked" "${@/%/:$debian}"; }

get_kernel() {
    say "unpacking the kernel $release"
    unpack "linux-image-$release"
    cp "$work/unpacked/boot/vmlinux-$release" "$work/ready/vmlinuz"
    cp "$work/unpacked/boot/config-$release" "$work/ready/config"
    echo "$release" >"$work/ready/release"
    cp "$work/unpacked/usr/bin/busybox" "$work/ready/busybox"
    unpack_into "$work/unpacked" opensbi  # of all architectures
    cp "$work/unpacked/$libraries/opensbi/generic/fw_dynamic.bin" "$work/ready"
    for module in "${modules[@]}"; do get_module "$module"; done
}

# needed_by MODULE: the modules that it names
needed_by() { tr '\0' '\n' <"$work/ready/modules/$1.ko" | LC_ALL=C sed -n 's/^depends=//p' | tr ',' '\n'; }

get_module() {
    local file=$work/ready/modules/$1.ko needed
    [ ! -e "$file" ] || return 0
    find "$work/unpacked/usr/lib/modules" -name "$1.ko.xz" -exec xz -dc {} + >"$file"
    [ -s "$file" ] || give_up "the kernel $release has no module $1"
    "${cross}strip" -g -X "$file"  # of the compiler's labels, which are three quarters of a module
    for needed in $(needed_by "$1"); do get_module "$needed"; done
}

# all_needed_by MODULE: in the order in which modprobe unloads them
all_needed_by() {
    local needed
    for needed in $(needed_by "$1"); do
        echo "$needed"
        all_needed_by "$needed"
    done
}

list_modules() {
    local file name
    for file in "$work"/ready/modules/*.ko; do
        name=$(basename "$file" .ko)
        # Of a module that several others need, the last place counts.
        echo "$name.ko:$(all_needed_by "$name" | tac | awk '!seen[$0]++ { print " " $0 ".ko" }' | tac | tr -d '\n')"
    done >"$work/ready/modules/modules.dep"
}

get_build() {
    get_headers
    find "$build"/usr/src/*-common/arch -mindepth 1 -maxdepth 1 -type d ! -name riscv -exec rm -r {} +
    find "$build/usr" -mindepth 1 -maxdepth 1 ! -name src ! -name lib ! -name lib64 -exec rm -r {} +
    rm -rf "$build"/{etc,usr/lib/x86_64-linux-gnu/{gconv,audit}}
}

# add_libraries ROOT: the loader, and the libraries that programs and libraries in it name, because the loader of
# another architecture cannot list them. Folders have no symbolic links. Some of Python's modules need more than is
# unpacked.
add_libraries() {
    local root=$1 from=$work/unpacked added=1 library
    mkdir -p "$root"/{lib,"$libraries"}
    cp -L "$from/usr/lib/ld-linux-riscv64-lp64d.so.1" "$root/lib"
    # The C library opens it when a thread is cancelled: no program names it.
    cp -L "$from/$libraries/libgcc_s.so.1" "$root/$libraries"
    while [ "$added" = 1 ]; do
        added=0
        for library in $({ find "$root" -type f \( -perm -1 -o -name '*.so*' \) -exec readelf -d {} + 2>/dev/null || true; } |
            sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
            [[ -e $from/$libraries/$library && ! -e $root/$libraries/$library ]] || continue
            cp -L "$from/$libraries/$library" "$root/$libraries"
            added=1
        done
    done
}

get_programs() {
    local ready=$work/ready from=$work/unpacked program
    say "unpacking rdma-core, perftest, libfabric, iperf3, dropbear and e2fsprogs"
    mkdir -p "$ready"/root/{bin,etc/libibverbs.d,"$libraries/libibverbs"} "$ready/net/bin" "$ready"/disk/{bin,etc}
    for program in "${root_programs[@]}"; do cp "$from/usr/bin/$program" "$ready/root/bin"; done
    cp -L "$from/$libraries"/libibverbs/libefa-*.so "$ready/root/$libraries/libibverbs"
    cp "$from/etc/libibverbs.d/efa.driver" "$ready/root/etc/libibverbs.d"
    for program in "${net_programs[@]}"; do cp "$from/usr/bin/$program" "$ready/net/bin"; done
    cp "$from/usr/sbin/dropbear" "$ready/net/bin"
    cp "$from/usr/sbin/mke2fs" "$ready/disk/bin/mkfs.ext4"  # busybox has a mke2fs of its own
    cp "$from/usr/sbin/e2fsck" "$ready/disk/bin/fsck.ext4"
    cp "$from/etc/mke2fs.conf" "$ready/disk/etc"
    for program in root net disk; do add_libraries "$ready/$program"; done
}

# build_for_machine FOLDER
build_for_machine() {
    trap 'say "get_riscv64.sh: line $LINENO failed"' ERR
    build=$tools/riscv64/build
    release=$(cat "$tools/riscv64/release")
    build_modules "$(readlink -f "$1")" || { say "the modules in $1 cannot be built"; exit 1; }
}

export KCFLAGS="-include $scripts/riscv64_atomics.h"
if [ "${1:-}" = --build ]; then
    [ -e "$tools/riscv64/release" ] || { say "there is no kernel for riscv64: './dev setup' first"; exit 1; }
    build_for_machine "$2"
    exit 0
fi
[ ! -e "$tools/riscv64/fw_dynamic.bin" ] || exit 0
stop_if_missing "$@"
[ "$(uname -m)" = x86_64 ] || give_up "the kernel's build programs are for x86_64 machines"
for program in apt-get dpkg-deb "${cross}gcc" make readelf xz; do
    command -v "$program" >/dev/null || give_up "there is no $program"
done

work=$tools/riscv64.new.$$
build=$work/ready/build
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/ready/modules" || give_up "cannot write $tools"
private_apt "$suite"
release=$(apt-cache "${apt_options[@]}" depends "linux-image-riscv64:$debian" |
    sed -n 's/.*Depends: linux-image-\([0-9][^: ]*\).*/\1/p')  # 6.12.117+deb13-riscv64
[ -n "$release" ] || give_up "$suite has no kernel for riscv64"
unpack "${packages[@]}" "${net_packages[@]}" "${disk_packages[@]}" "${mpi_packages[@]}"
get_kernel
get_programs
unpack_into "$work/unpacked" openmpi-common  # of all architectures
get_mpi
get_build
build_efa_driver "$work/ready/modules/efa.ko"
list_modules
[ ! -e "$tools/riscv64/neuron.ko" ] || cp -p "$tools/riscv64/neuron.ko" "$work/ready"  # the user's driver
rm -rf "$tools/riscv64"
rm -f "$missing"
mv "$work/ready" "$tools/riscv64"
say "riscv64 machines: $(du -sh "$tools/riscv64" | cut -f1) in $tools/riscv64"
