#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dev_setup_test.sh DEV: `./dev setup` with an apt-get that only writes down what it is asked for. It removes no
# package, keeps any Boost from 1.74 on, and waits a limited time for another process that holds a lock of apt.
set -eu
dev=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/tools"
touch "$scratch/tools/a file of the user"  # setup fetches nothing for guests into such a folder
program() { # NAME <TEXT
    { printf '#!/bin/bash\nscratch=%q\n' "$scratch" && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

program sudo <<'END'
exec "$@"
END
program sleep <<'END'
END
# Everything is installed but lld; `boost` has the packages of Boost.
program dpkg-query <<'END'
[ "${*: -1}" != 'libboost*-dev' ] || exec cat "$scratch/boost"
for name in "${@:3}"; do
    case $name in lld | libboost-dev) ;; *) printf 'installed %s|' "$name" ;; esac
done
exit 1  # not all are known
END
# `plan` is the answer to a simulation; a line of `locks` is a lock that another process holds for one call.
program apt-get <<'END'
if [[ " $* " == *' -s '* ]]; then
    cat "$scratch/plan"
    ! grep -q ^E: "$scratch/plan"
    exit
fi
if lock=$(head -n 1 "$scratch/locks") && [ -n "$lock" ]; then
    [ "$lock" = ever ] || sed -i 1d "$scratch/locks"
    echo "E: Could not get lock /var/lib/$lock. It is held by process 4711 (apt-get)" >&2
    exit 100
fi
echo "$*" >>"$scratch/asked"
END

setup() { # STATUS: the messages are in `said`
    local status=0
    : >"$scratch/asked"
    PATH="$scratch/bin:$PATH" TRNVP_GUEST_TOOLS="$scratch/tools" "$dev" setup </dev/null >"$scratch/said" 2>&1 || status=$?
    [ "$status" = "$1" ] || failed "status $status instead of $1"
}
failed() { echo "line ${BASH_LINENO[1]}: $*"; cat "$scratch"/{said,asked}; exit 1; }
said() { grep -qF -- "$1" "$scratch/said" || failed "does not say: $1"; }
asked() { grep -qE -- "$1" "$scratch/asked" || failed "does not ask apt-get for: $1"; }
not_asked() { ! grep -qE -- "$1" "$scratch/asked" || failed "asks apt-get for: $1"; }
boost() { printf '%s\n' "$@" >"$scratch/boost"; }
plan() { printf '%s\n' "$@" >"$scratch/plan"; }
locks() { printf '%s\n' "$@" >"$scratch/locks"; }

boost && locks && plan 'Inst lld (1:14 Debian:12 [amd64])'
setup 0
asked '^-qq update$'
asked '^-qq install .*--no-remove.* lld'
asked '^-qq install .* libboost-dev'

# Boost
boost 'not-installed libboost-dev 1.74.0.3' 'installed libboost1.81-dev 1.81.0-5'
setup 0
not_asked 'boost'
boost 'installed libboost1.67-dev 1.67.0-13' 'installed libboost-log1.90-dev 1.90.0'
setup 0
asked ' libboost-dev'

# A plan that removes packages, and one that apt does not find
plan 'Remv libboost1.67-dev [1.67.0-13]' 'Inst lld (1:14 Debian:12 [amd64])' 'Remv her-program [2.0]'
setup 2
said 'apt would remove packages of this machine:'
said 'her-program'
said 'nothing was installed or removed'
not_asked install
plan 'E: Unable to locate package lld'
setup 2
said 'E: Unable to locate package lld'
not_asked install

# Locks
plan 'Inst lld (1:14 Debian:12 [amd64])'
locks apt/lists/lock apt/lists/lock dpkg/lock-frontend apt/archives/lock
setup 0
asked '^-qq install .* lld'
for lock in apt/lists/lock dpkg/lock-frontend apt/archives/lock; do
    [ "$(grep -c "waiting for another process that uses apt: Could not get lock /var/lib/$lock. It is held by process 4711" \
        "$scratch/said")" = 1 ] || failed "does not say once that it waits for $lock"
done
locks ever
TRNVP_APT_WAIT=0 setup 2
said 'gave up after 0 s: another process uses apt: Could not get lock /var/lib/ever.'
not_asked .
TRNVP_APT_WAIT=soon setup 2
said 'TRNVP_APT_WAIT=soon is no number of seconds'

# A root of another release is refused before anything is made.
root() { # STATUS ARGS...
    local status=0 expected=$1
    TRNVP_ROOTS="$scratch/roots" PATH="$scratch/bin:$PATH" "$(dirname "$dev")/tests/support/root.sh" "${@:2}" >"$scratch/said" 2>&1 || status=$?
    [ "$status" = "$expected" ] || failed "status $status instead of $expected"
    [ ! -e "$scratch/roots" ] || failed "something was made"
}
root 2
said "no release ''; releases are: bookworm trixie"
root 2 sid ls
said "no release 'sid'"
root 2 'bookworm|trixie' ls
root 2 trixie
said 'a command is missing'

# sudo gets the folder of the roots, which belongs to the user.
program id <<'END'
echo 1000
END
program sudo <<'END'
echo "$*" >"$scratch/asked"
END
mkdir "$scratch/checkout"
cp "$dev" "$scratch/checkout/dev"
for roots in "TRNVP_ROOTS=$scratch/its roots" "XDG_CACHE_HOME=$scratch/cache"; do
    env -u TRNVP_ROOTS -u https_proxy "$roots" CI=1 http_proxy=http://proxy:3128 PATH="$scratch/bin:$PATH" "$scratch/checkout/dev" root bookworm ls >"$scratch/said" 2>&1 || failed 'root'
    asked "TRNVP_ROOTS=$scratch/(its roots|cache/trnvp/roots) CI=1 http_proxy=http://proxy:3128 tests/support/root.sh bookworm ls"
done
[ -d "$scratch/its roots" ] && [ -d "$scratch/cache/trnvp/roots" ] || failed 'a folder of the roots is not made by the user'
[ -d "$scratch/checkout/build" ] || failed 'a build folder is not made by the user'
