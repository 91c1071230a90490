#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guest_tools_test.sh GET_TOOLS: a folder with files of the user stays as it is, also when everything can be fetched.
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
for option in "" --again; do
    if PATH="$scratch/bin:$PATH" TRNVP_GUEST_TOOLS="$scratch/tools/" "$1" $option 2>"$scratch/said"; then
        echo "get_tools.sh $option succeeded" && exit 1
    fi
    grep -q "has other files (notes)" "$scratch/said" || { cat "$scratch/said"; exit 1; }
    [ "$(cat "$scratch/tools/notes")" = mine ] && [ -d "$scratch/tools/efa" ] && [ ! -e "$scratch/tools/missing" ]
    [ ! -e "$scratch/reached" ]
done
