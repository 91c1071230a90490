#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# in_clean_root.sh <PACKAGES.tar: installs the packages in the root that it runs in, uses them as a user without rights whose home is
# read-only, and removes them while a board runs. Files of the source tree are not used.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
packages=/tmp/packages home=/tmp/home work=/tmp/work
mkdir $packages $home $work
tar -C $packages -x
said=$(mktemp)
failed() { echo "line ${BASH_LINENO[0]}: $*"; tail -n 40 "$said"; exit 1; }
install() { DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$@" </dev/null >"$said" 2>&1 || failed "apt cannot install $*"; }
use() { # STATUS COMMAND...: as a user, in an empty folder; its output is in `said`
    local status=0 expected=$1
    runuser -u user -- env -i -C $work HOME=$home PATH=/usr/bin:/bin LANG=C.UTF-8 "${@:2}" </dev/null >"$said" 2>&1 || status=$?
    [ "$status" = "$expected" ] || failed "${*:2}: status $status instead of $expected"
}
says() { grep -qF -- "$1" "$said" || failed "does not say: $1"; }

echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/unsafe-io  # the root is removed in the end
apt-get -qq update
useradd user
chown user $work
cp -r "$here/../installed" /tmp/installed  # the program of a user

echo "== packages"
install $packages/*.deb
use 0 trnvp run trn3-chip --until ready
says 'ready: routing id 0'
use 0 trnctl --board trn3-chip copy host hbm0@16MiB 64KiB --verify
use 0 trnvp test /usr/share/trnvp/scenarios/mailbox.yaml
says '1 passed, 0 failed'
use 0 python3 -c 'import trnvp
with trnvp.start("trn3-chip") as board:
    board.copy(b"some bytes", "hbm0@16MiB")
    print(board.copy("hbm0@16MiB", "host", 10).data)'
says "b'some bytes'"
use 0 python3 -c 'import numpy; numpy.save("x.npy", numpy.ones((128, 64), numpy.float32))'
use 0 trn-nki run /usr/share/trnvp/scenarios/kernels/tiles.py:softmax --in x=x.npy --check simulate

echo "== manual pages, completion, pytest"
install man-db bash-completion python3-pytest lintian
for page in trnvp trnvp-run trnctl-copy trn-nki-run; do
    use 0 env MANPAGER=cat man --warnings $page
    says SYNOPSIS
done
use 0 bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader trnctl || true
    COMP_LINE="trnctl topo" COMP_POINT=11; _trnctl trnctl; echo "completed ${COMPREPLY[0]}"'
says 'completed topology'
echo 'def test_board(board): assert board.run("1 ms").reason == "time_limit"' >$work/test_board.py
use 0 python3 -m pytest -p no:cacheprovider test_board.py
says '1 passed'
use 0 lintian --fail-on error $packages/*.deb

echo "== programs that are compiled against it"
install gcc g++ cmake pkg-config
use 0 bash -c 'cc /tmp/installed/copies.c $(pkg-config --cflags --libs trnvp-driver) -o copies'
example=/usr/share/doc/trnvp/examples/library
use 0 cmake -S /tmp/installed/consumer -B consumer -DCMAKE_CXX_FLAGS=-O0 -DPAGE_EXAMPLE=$example/bench.c
use 0 cmake --build consumer
use 0 consumer/bench $example/board.yaml
says 'copies: as sent'
use 0 consumer/own_block /tmp/installed/consumer/own.yaml trn3-chip
says ': 2 + 40 is 42'

echo "== removed while a board runs"
runuser -u user -- env -C $work HOME=$home trnvp run trn3-chip --listen sockets >/tmp/platform 2>&1 &
platform=$!
for _ in $(seq 300); do [ -S $work/sockets/chip0.sock ] && break; sleep 0.1; done
use 0 ./copies sockets/chip0.sock
says 'as sent'
DEBIAN_FRONTEND=noninteractive apt-get -qq purge -y trnvp trnvp-firmware libtrnvp-dev >"$said" 2>&1 || failed "apt cannot remove them"
use 0 ./copies sockets/chip0.sock
says 'as sent'
kill $platform
wait $platform || true
left=$(find / -xdev -path /tmp -prune -o -path /proc -prune -o \( -name '*trnvp*' -o -name 'trn-*' -o -name 'trnctl*' \) -print |
    grep -v "^$(readlink -f "$here/../../..")\|^/var/cache\|^/var/lib/apt" || true)
[ -z "$left" ] || failed "left on the machine: $left"
echo "packages work"
