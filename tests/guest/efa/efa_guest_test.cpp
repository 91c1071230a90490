// SPDX-License-Identifier: Apache-2.0
// Linux guests with EFA cards and no chips: the unmodified driver, rdma-core and perftest of
// Debian, as unpacked by platform/app/guest/get_efa.sh. Skipped if these are not available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/guest/efa/efa_guests.h"
#include "tests/support/program.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

class EfaGuest : public efa_guests {
protected:
    EfaGuest() : efa_guests("efa", "efa/efa.ko", "EFA driver") {}
    /// Starts guests of a board; they load modules of these kernel folders before the driver.
    ended start(const std::string& options, const std::string& script,
                const std::string& modules = {}, const std::string& board = "efa_pair") {
        return start_on("tests/guest/efa/" + board + ".yaml",
                        modules + drivers() + running(script) + options);
    }
    ended with_faults(const std::string& options, const std::string& script,
                      const std::vector<injection>& faults) {
        return run_with_faults(std::string(TRNVP) + " guest tests/guest/efa/efa_pair.yaml" +
                                   drivers() + running(script) + options + " </dev/null",
                               faults);
    }
    std::string drivers() const {
        return loading_of_kernel(
                   {"drivers/infiniband/core/ib_core", "drivers/infiniband/core/ib_uverbs"}) +
               loading(tools + "/efa/", {"efa"});
    }
    /// Those that the kernel does not have built in.
    std::string loading_of_kernel(std::initializer_list<const char*> modules) const {
        std::ifstream list(tools + "/modules/modules.builtin");
        const std::string built_in{std::istreambuf_iterator<char>(list), {}};
        std::string options;
        for (const char* name : modules)
            if (built_in.find(std::string("kernel/") + name + ".ko\n") == std::string::npos)
                options += loading(tools + "/modules/kernel/", {name});
        return options;
    }
};

TEST_F(EfaGuest, DriverProbesAndShowsItsPort) {
    const auto how = start("", "dmesg | grep 'efa '\nibv_devinfo -v\n");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("efa_0: IB device registered"));
    EXPECT_THAT(how.output, HasSubstr("PORT_ACTIVE"));
    EXPECT_THAT(how.output, HasSubstr("fe80:0000:0000:0000:02ef:a0ff:fe00:0000"));
    EXPECT_THAT(how.output, HasSubstr("max_qp:\t\t\t\t256"));
}

TEST_F(EfaGuest, FirstGenerationProbes) {
    const auto how = start("--set device_id=0xefa0", "ls /sys/class/infiniband/efa_0/ports/1\n");
    EXPECT_EQ(how.status, 0) << how.output;
}

/// The driver of Linux 6.1 has no table entry for the id, but supports the card; that of 6.12 has.
TEST_F(EfaGuest, ThirdGenerationProbesWhenTheDriverIsGivenItsId) {
    const auto how = start("--set device_id=0xefa3",
                           "card=/sys/class/infiniband/efa_0\n"
                           "case $(uname -r) in 6.1.*) [ -e $card ] && exit 2 ;; esac\n"
                           "[ -e $card ] || echo 1d0f efa3 >/sys/bus/pci/drivers/efa/new_id\n"
                           "cat /sys/class/infiniband/efa_0/ports/1/state\n");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("ACTIVE"));
}

TEST_F(EfaGuest, DriverIsUnloadedAndLoadedTwentyTimes) {
    const auto how = start("",
                           "for n in $(seq 20); do\n"
                           "    rmmod efa || exit 2\n"
                           "    insmod /modules/efa.ko || exit 3\n"
                           "    [ -e /sys/class/infiniband/efa_0 ] || exit 4\n"
                           "done\necho loaded again $n times\n");
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("loaded again 20 times"));
}

/// Both drivers work below one switch; programs of chips use huge pages.
TEST_F(EfaGuest, ChipAndCardOfOneServerAreRecordedTogether) {
    const auto recording = folder / "recording", trace = folder / "trace", again = folder / "again";
    const auto how =
        start("--append 'hugepagesz=2M hugepages=8' --record " + recording + " --trace " + trace,
              "ibv_devinfo || exit 2\n"
              "readlink /sys/class/infiniband/efa_0/device\ntrn-guest\n",
              {}, "chip_card");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("PORT_ACTIVE"));
    EXPECT_THAT(how.output, HasSubstr("0000:04:00.0"));
    EXPECT_THAT(how.output, HasSubstr("1 device: all is well"));
    const auto replay = run(std::string(TRNVP) + " replay " + recording + " --trace " + again);
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("as recorded"));
    EXPECT_EQ(run("cmp " + trace + " " + again).status, 0);
}

/// The driver does not reset the card after a lost command: it closes its admin queue after 30 s.
/// It does not reset the card after a fatal error either.
TEST_F(EfaGuest, LostAdminCommandClosesTheQueueUntilTheDriverIsLoadedAgain) {
    const auto how =
        with_faults("--listen " + (folder / ""), seen + std::string(R"sh(
count=/sys/class/infiniband/efa_0/ports/1/hw_counters
read before <$count/tx_pkts || exit 2
echo ready for a lost command
for try in $(seq 100); do read after <$count/tx_pkts || break; sleep 0.1; done
seen 'send any completion for admin cmd GET_STATS'
read after <$count/tx_pkts && exit 4
seen 'Admin queue is closed'
echo ready for a fatal error
seen 'efa_0: Unknown event was received'
rmmod efa
insmod /modules/efa.ko || exit 3
read after <$count/tx_pkts && echo counts again
)sh"),
                    {{"ready for a lost command", "server0.nic.engine", "lost_command"},
                     {"ready for a fatal error", "server0.nic.engine", "fatal_error"}});
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("counts again"));
}

TEST_F(EfaGuest, LinkLostWithoutWarningRemovesTheCardUntilItIsUpAgain) {
    const auto how =
        with_faults("--append loglevel=7 --listen " + (folder / ""), seen + std::string(R"sh(
card=/sys/class/infiniband/efa_0
[ -e $card ] || exit 2
echo ready for a lost link
seen 'efa_0: Unregister ib device'
for try in $(seq 100); do [ -e $card ] || break; sleep 0.3; done
[ -e $card ] && exit 3
echo ready for a link
for try in $(seq 200); do [ -e $card ] && exit 0; sleep 0.3; done
exit 4
)sh"),
                    {{"ready for a lost link", "server0.host", "surprise_down"},
                     {"ready for a link", "server0.host", "link_up"}});
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST_F(EfaGuest, TwoGuestsSendAndReadByRdma) {
    // perftest 4.5 supports no later device id, and rejects reads for unknown ids.
    const auto how =
        start("--servers all --set device_id=0xefa1" + ethernet(),
              meet + std::string(R"sh(both ib_send_bw -c SRD -x 0 -d efa_0 -n 500 -s 8192
both ib_send_lat -c SRD -x 0 -d efa_0 -n 50 -s 64
both ib_read_bw -c SRD -x 0 -d efa_0 -n 50 -s 1048576
echo sends $(cat $count/send_wrs) reads $(cat $count/rdma_read_bytes) drops $(cat $count/rx_drops)
# The provider refuses work requests without a completion, which datagrams have by default.
both ib_send_bw -c UD -x 0 -d efa_0 -n 100 -s 1024 -Q 1 -r 512 -t 16
both ib_send_bw -c UD -x 0 -d efa_0 -n 100 -s 1024 -Q 1 -r 512 -t 16 -e
awk '/efa-comp0/ {print "completion events:", ($2 > 0 ? "yes" : "no")}' /proc/interrupts
)sh"),
              loading_of_kernel({"drivers/virtio/virtio", "drivers/virtio/virtio_ring",
                                 "drivers/virtio/virtio_pci_legacy_dev",
                                 "drivers/virtio/virtio_pci_modern_dev",
                                 "drivers/virtio/virtio_pci", "net/core/failover",
                                 "drivers/net/net_failover", "drivers/net/virtio_net"}));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server1] sends 550 reads 52428800 drops 0"));
    EXPECT_THAT(how.output, HasSubstr("[server0] sends 50 reads 0 drops 0"));
    EXPECT_THAT(how.output, HasSubstr("[server0] completion events: yes"));
    EXPECT_THAT(how.output, HasSubstr("[server1] completion events: yes"));
}

}  // namespace
}  // namespace trn::test
