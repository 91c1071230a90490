// SPDX-License-Identifier: Apache-2.0
// Linux guests of Debian 13 with EFA cards: its kernel, the unmodified driver, rdma-core, perftest
// and libfabric, as platform/app/guest/get_debian13.sh unpacks them. Skipped where these are not
// available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/guest/efa/efa_guests.h"
#include "tests/support/program.h"

namespace trn::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class EfaDebian13Guests : public efa_guests {
protected:
    EfaDebian13Guests() : efa_guests("debian13", "debian13/efa.ko", "Debian 13 with EFA") {}
    /// Two guests of a board, whose cards have the newest id that their software knows.
    ended meeting(const std::string& script,
                  const std::string& board = "tests/guest/efa/efa_pair.yaml --servers all") {
        return start_on(
            board, " --set device_id=0xefa3 --kernel " + own + "vmlinuz" +
                       loading(own + "modules/",
                               {"failover", "net_failover", "virtio_net", "ib_core", "ib_uverbs"}) +
                       loading(own, {"efa"}) + running(meet + script) + ethernet());
    }

    const std::string own = tools + "/debian13/";
};

TEST_F(EfaDebian13Guests, WriteByRdma) {
    const auto how = meeting(R"sh(
both ib_write_bw -c SRD -x 0 -d efa_0 -n 100 -s 65536
both ib_write_lat -c SRD -x 0 -d efa_0 -n 50 -s 64
both ib_read_lat -c SRD -x 0 -d efa_0 -n 50 -s 64
for each in rdma_write_wrs rdma_write_bytes rdma_write_recv_bytes rdma_read_bytes rdma_write_wr_err rx_drops; do
    echo $each: $(cat $count/$each)
done
)sh");
    ASSERT_EQ(how.status, 0) << how.output;
    // 100 writes of 64 KiB, one way, and 50 of 64 bytes each way
    EXPECT_THAT(how.output, HasSubstr("[server1] rdma_write_wrs: 150"));
    EXPECT_THAT(how.output, HasSubstr("[server1] rdma_write_bytes: 6556800"));
    EXPECT_THAT(how.output, HasSubstr("[server0] rdma_write_recv_bytes: 6556800"));
    EXPECT_THAT(how.output, HasSubstr("[server0] rdma_write_bytes: 3200"));
    EXPECT_THAT(how.output, HasSubstr("[server1] rdma_read_bytes: 3200"));
    for (const char* server : {"[server0]", "[server1]"}) {
        EXPECT_THAT(how.output, HasSubstr(std::string(server) + " rdma_write_wr_err: 0"));
        EXPECT_THAT(how.output, HasSubstr(std::string(server) + " rx_drops: 0"));
    }
}

/// The reliable endpoint over its own protocol, then directly over queue pairs of SRD, then
/// datagrams. `-c`: each byte is compared.
TEST_F(EfaDebian13Guests, LibfabricEndpointsOfTwoGuestsMeet) {
    const auto how = meeting(R"sh(
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
both fi_pingpong -p efa -f efa -e rdm -c -I 10 -S 1024
both fi_pingpong -p efa -f efa -e rdm -c -I 3 -S 1048576
echo large: $(cat $count/rdma_read_bytes)
both fi_pingpong -p efa -f efa-direct -e rdm -c -I 10 -S 1024
both fi_pingpong -p efa -e dgram -c -I 10 -S 1024
)sh");
    ASSERT_EQ(how.status, 0) << how.output;
    for (const std::string server : {"[server0]", "[server1]"})
        EXPECT_THAT(how.output, HasSubstr(server + " fi_pingpong: 1k"));
    EXPECT_THAT(how.output, ContainsRegex("1m +3 +=3"));
}

}  // namespace
}  // namespace trn::test
