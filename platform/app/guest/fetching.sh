# SPDX-License-Identifier: Apache-2.0
# For get_... scripts, which fetch what tests and guests use; sourced, not run. They have set $wanted, what cannot be
# used without it, and $missing, the file that has the reason after a failure.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

give_up() {
    trap - ERR
    say "no $wanted: $*"
    mkdir -p "$(dirname "$missing")" && printf '%s\n' "$*" >"$missing"
    exit 1
}

# stop_if_missing [--again]: does not repeat what has failed before, unless asked to.
stop_if_missing() {
    [ -e "$missing" ] && [ "${1:-}" != --again ] || return 0
    say "no $wanted: $(cat "$missing")  ('./dev setup' tries again)"
    exit 1
}

trap 'give_up "$(basename "${BASH_SOURCE[0]}"): line $LINENO failed"' ERR
