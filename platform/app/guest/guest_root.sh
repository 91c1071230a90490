# SPDX-License-Identifier: Apache-2.0
# For get_... scripts that make a root folder of this release's programs for guests; sourced, not run. Nothing is
# installed. They have `say` and `give_up`, and a folder of their own, $work.

libraries=usr/lib/x86_64-linux-gnu

# download PACKAGE...: into $work/deb
download() { mkdir -p "$work/deb" && (cd "$work/deb" && apt-get -qq -o APT::Sandbox::User=root download "$@" >&2); }

# unpack PACKAGE...: the packages and the libraries that they depend on, into $work/user
unpack() {
    local names packages archive folder
    names=$(IFS='|' && echo "$*")
    mapfile -t packages < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "$@" | grep -E "^(lib|zlib|($names)\$)" |
        grep -vE '^(libc6-|libpython|libpam|libdebconf)' | sort -u)
    rm -rf "$work/deb" "$work/user"
    download "${packages[@]}" || give_up "cannot download $* and their libraries"
    for archive in "$work"/deb/*.deb; do dpkg-deb -x "$archive" "$work/user"; done
    for folder in bin sbin lib lib64; do  # in usr alone from Debian 13 on
        [ -e "$work/user/$folder" ] || ln -s "usr/$folder" "$work/user/$folder"
    done
}

# add_libraries ROOT [FILE...]: what its programs and these files need, and the loader. Not all that was unpacked: that
# is ten times as large.
add_libraries() {
    local root=$1 paths=$work/user/$libraries:$work/user/lib/x86_64-linux-gnu:$work/user/$libraries/ceph program
    shift
    mkdir -p "$root"/{lib64,"$libraries"}
    cp -L "$work/user/lib64/ld-linux-x86-64.so.2" "$root/lib64"
    for program in "$root"/bin/* "$@"; do
        "$root/lib64/ld-linux-x86-64.so.2" --inhibit-cache --library-path "$paths" --list "$program" |
            awk '$2 == "=>" { print $3 }'
    done | sort -u | while read -r library; do cp -L "$library" "$root/$libraries"; done
    # The C library opens it when a thread is cancelled: no program names it.
    find "$work/user" -name libgcc_s.so.1 -exec cp -L {} "$root/$libraries" \;
}
