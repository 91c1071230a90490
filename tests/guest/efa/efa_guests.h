// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <initializer_list>
#include <string>

#include "tests/guest/tooled_guest.h"
#include "tests/support/program.h"

namespace trn::test {

/// Guests with EFA cards, of Debian 12 or Debian 13. Two servers exchange the numbers of their
/// queue pairs over QEMU's Ethernet, and data over EFA.
class efa_guests : public tooled_guest {
protected:
    using tooled_guest::tooled_guest;

    static std::string loading(const std::string& folder,
                               std::initializer_list<const char*> modules) {
        std::string options;
        for (const char* name : modules) options += " --module " + folder + name + ".ko";
        return options;
    }
    /// Runs guests of a board: a file in this folder or a built-in board.
    ended start_on(const std::string& board, const std::string& options) const {
        return run(std::string(TRNVP) + " guest " + board + options + " </dev/null");
    }
    /// Trailing arguments for QEMU: a network that connects the guests of this test only.
    static std::string ethernet() {
        return " -- -netdev socket,id=n0,mcast=230.0.0.1:" +
               std::to_string(20'000 + getpid() % 20'000) +
               ",localaddr=127.0.0.1 -device virtio-net-pci,netdev=n0,romfile=";
    }
    /// For scripts of two guests: `both PROGRAM...` runs it in both, with the address of the first
    /// guest as an additional last argument in the second; the output is in /tmp/log. After a
    /// complete exchange perftest compares the clocks of processor and kernel, and refuses its
    /// report if other load on the machine has disturbed them: then only the counters of the card
    /// count.
    static constexpr const char* meet =
        R"sh(case $TRNVP_SERVER in server0 | pod0.*) n=0 ;; *) n=1 ;; esac
ulimit -l unlimited
ip link set eth0 address 52:54:00:00:00:1$n
ip addr add 10.0.0.1$n/24 dev eth0
ip link set lo up
ip link set eth0 up
count=/sys/class/infiniband/efa_0/ports/1/hw_counters
unreported() { grep -q "Can't produce a report" /tmp/log; }
both() {
    done=
    if [ $n = 0 ]; then
        timeout 100 "$@" >/tmp/log 2>&1 && done=yes || unreported && done=yes
    else
        for try in $(seq 20); do
            timeout 60 "$@" 10.0.0.10 >/tmp/log 2>&1 && done=yes && break
            unreported && done=yes && break
            sleep 1
        done
    fi
    [ $done ] || { cat /tmp/log; exit 1; }
    echo "$1: $(grep -A1 '^ *#*bytes' /tmp/log | tail -n 1)"
}
)sh";
};

}  // namespace trn::test
