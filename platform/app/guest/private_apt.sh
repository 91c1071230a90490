# SPDX-License-Identifier: Apache-2.0
# For get_... scripts that take packages of releases other than the machine's; sourced, not run. Nothing is installed.
# They have `say` and `give_up`, and a folder of their own, $work.

machine_release() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

# for_architecture NAME: what is fetched is for this one, as `uname -m` prints it. Sets $debian, the name in packages,
# and $cross, the prefix of the compiler ("": the machine's own).
for_architecture() {
    cross=$1-linux-gnu-
    case $1 in
    x86_64) debian=amd64 cross= ;;
    aarch64) debian=arm64 ;;
    riscv64) debian=riscv64 ;;
    esac
}
for_architecture x86_64

# private_apt SUITE...: an apt with the machine's mirror, proxy and certificates, but its own lists, no installed
# packages and these suites; it also has packages NAME:$debian. Sets apt_options.
private_apt() {
    local release keyring=/usr/share/keyrings/debian-archive-keyring.gpg uri suite
    release=$(machine_release)
    uri=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 'Component: main' |
        awk -v release="$release" '$1 == release { print $2; exit }')
    [ -n "$uri" ] || give_up "apt knows no Debian mirror for '$release'"
    mkdir -p "$work"/{lists/partial,archives/partial} && : >"$work/status"
    for suite in "$@"; do echo "deb [signed-by=$keyring] $uri $suite main"; done | sort -u >"$work/sources.list"
    apt_options=(-qq -o "Dir::State=$work" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work"
        -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
        -o "APT::Architectures::=$debian"
        -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Retries=3 -o Acquire::http::Timeout=30)
    apt-get "${apt_options[@]}" update >&2 || give_up "the Debian mirror of this machine cannot be read"
}

# kernel_of SUITE: the package of its newest cloud kernel, "linux-image-6.1.0-50-cloud-amd64"
kernel_of() {
    apt-cache "${apt_options[@]}" depends "linux-image-cloud-$debian:$debian/$1" |
        awk -F '[ :]+' '$2 == "Depends" && $3 ~ /^linux-image-/ { print $3; exit }'
}
