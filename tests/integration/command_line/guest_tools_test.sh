#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guest_tools_test.sh GET_TOOLS: a folder with files of the user stays as it is, also when everything can be fetched.
# A folder with files of our scripts and the user's drivers at their documented places is used.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tools/efa" "$scratch/bin"
echo mine >"$scratch/tools/notes"
# Programs that would fetch and unpack: none may be reached.
for program in apt-get dpkg-deb; do
    printf '#!/bin/sh\ntouch "%s/reached"\nexit 1\n' "$scratch" >"$scratch/bin/$program"
    chmod +x "$scratch/bin/$program"
done
refused_because_of() { # FILE OPTION...
    file=$1 && shift
    if PATH="$scratch/bin:$PATH" TRNVP_GUEST_TOOLS="$scratch/tools/" "$get_tools" "$@" 2>"$scratch/said"; then
        echo "get_tools.sh $* succeeded" && exit 1
    fi
    grep -qF "has other files ($file)" "$scratch/said" || { cat "$scratch/said"; exit 1; }
    [ -e "$scratch/tools/$file" ] && [ ! -e "$scratch/tools/missing" ] && [ ! -e "$scratch/reached" ]
}
get_tools=$1
refused_because_of notes
refused_because_of notes --again
[ "$(cat "$scratch/tools/notes")" = mine ] && [ -d "$scratch/tools/efa" ]
rm "$scratch/tools/notes"
for file in '*' 'busybox modules' .hidden; do
    touch "$scratch/tools/$file"
    refused_because_of "$file"
    rm "$scratch/tools/$file"
done

mkdir "$scratch/tools/debian13" "$scratch/tools/aarch64" "$scratch/tools/riscv64"
touch "$scratch/tools/neuron.ko" "$scratch/tools/debian13/neuron.ko" "$scratch/tools/efa-missing" "$scratch/tools/debian13-missing"
touch "$scratch/tools/riscv64/neuron.ko" "$scratch/tools/riscv64-missing"
PATH="$scratch/bin:$PATH" TRNVP_GUEST_TOOLS="$scratch/tools" "$get_tools" 2>"$scratch/said" && exit 1
[ -e "$scratch/reached" ] || { cat "$scratch/said"; exit 1; }
[ -e "$scratch/tools/neuron.ko" ] && [ -e "$scratch/tools/debian13/neuron.ko" ] && [ -e "$scratch/tools/riscv64/neuron.ko" ]

# The other architecture has a folder and a reason of its own.
rm "$scratch/reached"
touch "$scratch/tools/aarch64/neuron.ko"
PATH="$scratch/bin:$PATH" TRNVP_GUEST_TOOLS="$scratch/tools" "$get_tools" --arch aarch64 2>"$scratch/said" && exit 1
[ -e "$scratch/reached" ] && [ -e "$scratch/tools/aarch64-missing" ] && [ -e "$scratch/tools/aarch64/neuron.ko" ]
status=0
"$get_tools" --arch sparc 2>"$scratch/said" || status=$?
[ $status = 2 ] || { cat "$scratch/said"; exit 1; }
