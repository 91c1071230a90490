// SPDX-License-Identifier: Apache-2.0
// Linux guests with ENA cards and no chips: the unmodified driver of Debian's kernel, and iperf3
// and dropbear as unpacked by platform/app/guest/get_ena.sh. Skipped if these are not available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/guest/tooled_guest.h"
#include "tests/support/program.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

class EnaGuest : public tooled_guest {
protected:
    EnaGuest() : tooled_guest("ena", "ena/root", "network programs") {}
    /// Shell command that starts the guests of both servers.
    std::string guests(const std::string& options, const std::string& script) {
        return std::string(TRNVP) + " guest tests/guest/ena/ena_pair.yaml --module " + tools +
               "/modules/kernel/drivers/net/ethernet/amazon/ena/ena.ko" + running(script) +
               options + " </dev/null";
    }
};

TEST_F(EnaGuest, DriverIsUnloadedAndLoadedTwentyTimes) {
    const auto how = run(guests("",
                                "for n in $(seq 20); do\n"
                                "    rmmod ena || exit 2\n"
                                "    insmod /modules/ena.ko || exit 3\n"
                                "    ip link set eth0 up || exit 4\n"
                                "done\nsleep 2\n"
                                "ip link show eth0 | grep LOWER_UP || exit 5\n"
                                "echo loaded again $n times\n"));
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("loaded again 20 times"));
}

TEST_F(EnaGuest, TwoGuestsPingMeasureAndLogInByTheNetwork) {
    const auto how = run(guests("--servers all", R"sh(n=${TRNVP_SERVER#server}
peer=10.0.0.1$((1 - n))
ip link set lo up
ip addr add 10.0.0.1$n/24 dev eth0
ip link set eth0 up mtu 9000
for try in $(seq 60); do ping -c 1 -W 1 $peer >/dev/null && break; done
ping -c 3 -s 8000 $peer || exit 2
dmesg | grep 'ena .*Cannot' && exit 7
if [ $n = 0 ]; then
    timeout 100 iperf3 -s -1 >/tmp/log 2>&1 || { cat /tmp/log; exit 3; }
    mkdir -p /etc/dropbear
    echo root::0:0:root:/:/bin/sh >/etc/passwd
    dropbearkey -t ed25519 -f /etc/dropbear/key >/dev/null 2>&1
    dropbear -F -B -r /etc/dropbear/key &
    for try in $(seq 60); do [ -e /tmp/visited ] && exit 0; sleep 1; done
    exit 4
fi
for try in $(seq 30); do timeout 60 iperf3 -c $peer -t 2 >/tmp/log 2>&1 && done=yes && break; sleep 1; done
[ $done ] || { cat /tmp/log; exit 5; }
grep receiver /tmp/log
for try in $(seq 30); do
    DROPBEAR_PASSWORD= dbclient -y root@$peer 'touch /tmp/visited; ip addr show eth0' 2>/tmp/log && exit 0
    sleep 1
done
cat /tmp/log
exit 6
)sh"));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server0] 3 packets transmitted, 3 packets received"));
    EXPECT_THAT(how.output, HasSubstr("[server1] 3 packets transmitted, 3 packets received"));
    EXPECT_THAT(how.output, HasSubstr("bits/sec"));
    // Address of the other server.
    EXPECT_THAT(how.output, HasSubstr("[server1]     inet 10.0.0.10/24"));
}

/// The driver logs each fault, and the link comes up again.
TEST_F(EnaGuest, DriverRecoversFromFaultsOfTheCard) {
    const auto start =
        guests("--listen " + (folder / ""), seen + std::string(R"sh(ip link set eth0 up
link() {
    for try in $(seq 100); do ip link show eth0 | grep -q $1 && return 0; sleep 0.3; done
    echo "no link: $1"; exit 8
}
link LOWER_UP
echo ready for silence
seen 'Keep alive watchdog timeout'
seen 'Device reset completed successfully'
link LOWER_UP
dmesg -c >/dev/null
echo ready for a lost command
for n in $(seq 100); do
    ip link set eth0 mtu $((1300 + n)) 2>/dev/null
    dmesg | grep -q 'send a completion' && break
    sleep 0.3
done
seen 'send a completion'
seen 'Device reset completed successfully'
link LOWER_UP
echo ready for a pulled cable
link NO-CARRIER
echo ready for a cable
link LOWER_UP
echo recovered
)sh"));
    const std::string card = "server0.nic.engine";
    const auto how =
        run_with_faults(start, {{"ready for silence", card, "lost_keep_alive", ", count=8"},
                                {"ready for a lost command", card, "lost_command"},
                                {"ready for a pulled cable", card, "link_down"},
                                {"ready for a cable", card, "link_up"}});
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("\nrecovered"));
}

/// Linux' driver has no handler for the event: it logs the event, and resets the card when
/// keep-alives are missing. IPv6 is off, because a packet of its own, which the card does not send,
/// would make the kernel's transmit watchdog reset the card first.
TEST_F(EnaGuest, FatalErrorIsLoggedAndTheDriverRecovers) {
    const auto start =
        guests("--listen " + (folder / ""),
               seen + std::string(R"sh(echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6 || exit 7
ip link set eth0 up
link() {
    for try in $(seq 100); do ip link show eth0 | grep -q LOWER_UP && return 0; sleep 0.3; done
    echo "no link"; exit 8
}
link
dmesg -c >/dev/null
echo ready for a fatal error
seen 'Unknown event was received'
seen 'Keep alive watchdog timeout'
seen 'Device reset completed successfully'
link
echo recovered
)sh"));
    const auto how =
        run_with_faults(start, {{"ready for a fatal error", "server0.nic.engine", "fatal_error"}});
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("\nrecovered"));
}

/// A request of each kind without and with a token; the document names the same instance as SMBIOS.
TEST_F(EnaGuest, MetadataServiceAnswersOverTheCard) {
    const auto how = run(guests("", R"sh(ip addr add 10.0.0.10/24 dev eth0
ip link set eth0 up
ip route add 169.254.169.254 dev eth0
service=http://169.254.169.254/latest
get() { wget -q -O - "$@"; }
for try in $(seq 100); do ip link show eth0 | grep -q LOWER_UP && break; sleep 0.3; done
echo "type $(get $service/meta-data/instance-type)"
printf 'PUT /latest/api/token HTTP/1.1\r\nHost: 169.254.169.254\r\n' >/tmp/request
printf 'X-aws-ec2-metadata-token-ttl-seconds: 21600\r\n\r\n' >>/tmp/request
nc 169.254.169.254 80 </tmp/request >/tmp/answer
token="X-aws-ec2-metadata-token: $(tail -n 1 /tmp/answer)"
[ $(get --header "$token" $service/meta-data/instance-id) = $(cat /sys/class/dmi/id/board_asset_tag) ] || exit 2
[ $(get --header "$token" $service/meta-data/mac) = $(cat /sys/class/net/eth0/address) ] || exit 3
get --header "$token" $service/dynamic/instance-identity/document | grep instanceType
get --header "${token}0" $service/meta-data/mac && exit 4
get $service/meta-data/nothing && exit 5
echo read
)sh"));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("type trn2.48xlarge"));
    EXPECT_THAT(how.output, HasSubstr(R"("instanceType" : "trn2.48xlarge")"));
    EXPECT_THAT(how.output, HasSubstr("\nread"));
}

/// The guest's own DHCP client configures the interface; the service is reached through its router.
TEST_F(EnaGuest, InterfaceGetsItsAddressByDhcp) {
    const auto how = run(guests("", R"sh(ip link set eth0 up
for try in $(seq 100); do ip link show eth0 | grep -q LOWER_UP && break; sleep 0.3; done
cat >/tmp/leased <<'END'
#!/bin/sh
[ "$1" = bound ] || exit 0
ip addr add $ip/$mask dev $interface
ip link set $interface mtu $mtu
ip route add default via $router
echo "lease of $hostname.$domain: $ip/$mask by $router"
END
chmod +x /tmp/leased
udhcpc -i eth0 -n -q -t 10 -s /tmp/leased || exit 2
echo "mtu $(cat /sys/class/net/eth0/mtu)"
echo "I am $(wget -q -O - http://169.254.169.254/latest/meta-data/local-hostname)"
)sh"));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output,
                HasSubstr("lease of ip-172-31-0-5.ec2.internal: 172.31.0.5/20 by 172.31.0.1"));
    EXPECT_THAT(how.output, HasSubstr("mtu 9001"));
    EXPECT_THAT(how.output, HasSubstr("I am ip-172-31-0-5.ec2.internal"));
}

/// Drops 30 % of packets in each direction: about half of the replies arrive.
TEST_F(EnaGuest, PingsAreLostAtTheRateOfTheNetwork) {
    const auto start =
        guests("--servers all --listen " + (folder / ""), R"sh(n=${TRNVP_SERVER#server}
peer=10.0.0.1$((1 - n))
ip addr add 10.0.0.1$n/24 dev eth0
ip link set eth0 up
if [ $n = 1 ]; then
    for try in $(seq 400); do nc $peer 99 2>/dev/null | grep -q done && exit 0; sleep 0.5; done
    exit 7
fi
for try in $(seq 100); do ping -c 1 -W 1 $peer >/dev/null && break; done
echo ready for loss
for try in $(seq 20); do
    received=$(ping -i 0.05 -c 60 -W 1 $peer | sed -n 's/.* \([0-9]*\) packets received.*/\1/p')
    [ $received -lt 60 ] && break
done
[ $received -lt 60 ] && [ $received -gt 0 ] && echo some are lost
echo ready without loss
echo done >/tmp/done
nc -l -p 99 </tmp/done
)sh");
    const auto how =
        run_with_faults(start, {{"ready for loss", "ethernet", "loss", ", ppm=300000"},
                                {"ready without loss", "ethernet", "loss", ", ppm=0"}});
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server0] some are lost"));
}

/// Lost completions of sends stop the queue: the driver resets the card after 5 s, and the guests
/// can ping again.
TEST_F(EnaGuest, PingGoesOnAfterLostCompletions) {
    const auto start = guests("--servers all --listen " + (folder / ""),
                              seen + std::string(R"sh(n=${TRNVP_SERVER#server}
peer=10.0.0.1$((1 - n))
ip addr add 10.0.0.1$n/24 dev eth0
ip link set eth0 up
reached() {
    for try in $(seq 100); do ping -c 1 -W 1 $peer >/dev/null && return 0; done
    echo "no answer"; exit 8
}
reached
if [ $n = 0 ]; then
    echo ready for lost completions
    ping -i 0.01 $peer >/dev/null &
    seen 'Transmit time out\|paused for too long'
    seen 'Device reset completed successfully'
    kill $! 2>/dev/null
    dmesg | grep 'ena .*\(eth0\|ompletion\)' | tail -n 4
    reached
    echo recovered >/tmp/done
    nc -l -p 99 </tmp/done
else
    for try in $(seq 200); do nc -w 5 $peer 99 2>/dev/null | grep recovered && exit 0; sleep 0.5; done
    exit 7
fi
)sh"));
    const auto how = run_with_faults(start, {{"ready for lost completions", "server0.nic.engine",
                                              "lost_packet_completion", ", count=20"}});
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server1] recovered"));
}

}  // namespace
}  // namespace trn::test
