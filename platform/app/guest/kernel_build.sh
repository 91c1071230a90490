# SPDX-License-Identifier: Apache-2.0
# For get_... scripts that build modules for the kernel $release (6.12.117+deb13-cloud-amd64) of Debian $suite;
# sourced, not run. They have called for_architecture and private_apt (private_apt.sh), and set $build, the folder of
# headers and kernel build programs.

build_packages=(libc6 libelf1t64 libzstd1 zlib1g)  # libraries of the kernel's build programs

# download PACKAGE...: into $work/deb
download() {
    mkdir -p "$work/deb"
    (cd "$work/deb" && apt-get "${apt_options[@]}" download "$@" >&2) || give_up "cannot download $*"
}

# unpack_into FOLDER PACKAGE...
unpack_into() {
    local folder=$1 archive
    shift
    download "$@"
    mkdir -p "$folder"
    for archive in "$work"/deb/*.deb; do dpkg-deb -x "$archive" "$folder"; done
    rm -r "$work/deb"
}

# runs_by_loader NAME PROGRAM: NAME becomes a script that starts PROGRAM of the kernel's build by Debian $suite's own
# loader, because the machine may have another C library. Paths are relative: $build may be moved.
runs_by_loader() {
    local name
    name=$(echo "$build"/usr/lib/linux-kbuild-*)/$1
    mv "${name%"$1"}$2" "$name.program"
    rm -f "$name"
    cat >"$name" <<'SCRIPT'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
usr=$here/../../../..
exec "$usr/lib64/ld-linux-x86-64.so.2" --library-path "$usr/lib/x86_64-linux-gnu" "$here/$(basename "$0").program" "$@"
SCRIPT
    chmod +x "$name"
}

# get_headers: into $build
get_headers() {
    local package=linux-headers-$release:$debian depends
    mapfile -t depends < <(apt-cache "${apt_options[@]}" depends "$package" |
        grep -oE 'linux-(headers-.*-common|kbuild-[^:>]*)' | sort -u)
    unpack_into "$build" "$package" "${depends[@]}"
    # The headers name each other by absolute paths.
    sed -i "s#/usr/src/#../#" "$build/usr/src/linux-headers-$release/Makefile"
    [ "$suite" != "$(machine_release)" ] || return 0
    unpack_into "$build" "${build_packages[@]}"
    runs_by_loader scripts/basic/fixdep scripts/basic/fixdep
    runs_by_loader scripts/mod/modpost scripts/mod/modpost.real-lsb-64
    runs_by_loader tools/objtool/objtool tools/objtool/objtool.real-x86
}

# build_modules FOLDER [VARIABLE=VALUE...]
build_modules() {
    local folder=$1
    shift
    # The compiler may be older than the kernel's: without an option of gcc 14, and without type information.
    make -s -j "$(nproc)" -C "$build/usr/src/linux-headers-$release" M="$folder" \
        CROSS_COMPILE="$cross" CC="${cross}gcc" \
        CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules >&2
}

# build_efa_driver FILE: of Debian's kernel source, unmodified, as no Debian kernel has it built
build_efa_driver() {
    local series  # 6.12
    series=$(cut -d . -f 1,2 <<<"$release")
    say "building the EFA driver of Linux $series"
    download "linux-source-$series/$suite"
    mkdir "$work/driver"
    dpkg-deb --fsys-tarfile "$work"/deb/linux-source-*.deb |
        tar -x -O "./usr/src/linux-source-$series.tar.xz" |
        tar -x -J -C "$work/driver" --strip-components=5 "linux-source-$series/drivers/infiniband/hw/efa"
    rm -r "$work/deb"
    build_modules "$work/driver" CONFIG_INFINIBAND_EFA=m || give_up "the driver cannot be built"
    "${cross}strip" -g -X -o "$1" "$work/driver/efa.ko"
}

# get_mpi: $work/ready/mpi, a root folder of the programs and modules in $work/unpacked. The script has add_libraries
# and $libraries.
get_mpi() {
    local root=$work/ready/mpi from=$work/unpacked
    say "unpacking Open MPI and Python"
    mkdir -p "$root"/{bin,etc,usr/bin,usr/share,"$libraries",usr/lib/python3/dist-packages}
    cp -L "$from/usr/bin/mpirun.openmpi" "$root/bin/mpirun"
    cp -L "$from/usr/bin/python3.13" "$root/bin/python3"
    cp -L "$from/usr/bin/"{prted,prterun} "$root/usr/bin"
    cp -rL "$from/etc/openmpi" "$root/etc"
    cp -rL "$from/usr/share/"{openmpi,prte} "$root/usr/share"
    cp -rL "$from/$libraries/pmix2" "$root/$libraries"
    rm -f "$from/usr/lib/python3.13/sitecustomize.py"  # a link into the machine's /etc
    cp -rL "$from/usr/lib/python3.13" "$root/usr/lib"
    cp -rL "$from/usr/lib/python3/dist-packages/"{mpi4py,pyverbs} "$root/usr/lib/python3/dist-packages"
    add_libraries "$root"
}
