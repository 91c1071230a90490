// SPDX-License-Identifier: Apache-2.0
// Linux guests of Debian 13 with EFA cards: Debian's kernel, the unmodified driver, rdma-core,
// perftest, libfabric, Open MPI and pyverbs, as unpacked by platform/app/guest/get_debian13.sh.
// Skipped if these are not available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/guest/efa/efa_guests.h"
#include "tests/support/program.h"

namespace trn::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// Counts the admin commands of a card in a trace by opcode (EFA contract 8).
class commands {
public:
    explicit commands(const std::string& trace) {
        std::ifstream in(trace);
        const std::string mark = ".management command opcode=";
        for (std::string line; std::getline(in, line);)
            if (const auto at = line.find(mark); at != std::string::npos)
                ++seen_[std::stoi(line.substr(at + mark.size()))];
    }
    int of(int opcode) const { return seen_.contains(opcode) ? seen_.at(opcode) : 0; }

private:
    std::map<int, int> seen_;
};
constexpr int create_qp = 1, destroy_qp = 4, create_ah = 5, destroy_ah = 6, reg_mr = 7,
              dereg_mr = 8, create_cq = 9, destroy_cq = 10, alloc_pd = 14, dealloc_pd = 15;

class EfaDebian13Guests : public efa_guests {
protected:
    EfaDebian13Guests() : efa_guests("debian13", "debian13/efa.ko", "Debian 13 with EFA") {}
    /// Starts guests of a board whose cards have the newest device id that the driver supports.
    ended start(const std::string& script, const std::string& options,
                const std::string& board = pair) {
        return start_on(
            board, " --kernel " + own + "vmlinuz" +
                       loading(own + "modules/",
                               {"failover", "net_failover", "virtio_net", "ib_core", "ib_uverbs"}) +
                       loading(own, {"efa"}) + running(script) + options);
    }
    ended meeting(const std::string& script, const std::string& options = {}) {
        return start(meet + script, options + " --servers all" + ethernet());
    }
    /// EFA cards of two servers of a built-in board send, read and write.
    void servers_meet(const std::string& board, const std::string& servers,
                      const std::string& client) {
        const auto how = start(meet + std::string(R"sh(
both ib_send_bw -c SRD -x 0 -d efa_0 -n 100 -s 8192
both ib_send_lat -c SRD -x 0 -d efa_0 -n 20 -s 64
both ib_read_bw -c SRD -x 0 -d efa_0 -n 10 -s 1048576
both ib_read_lat -c SRD -x 0 -d efa_0 -n 20 -s 64
both ib_write_bw -c SRD -x 0 -d efa_0 -n 10 -s 1048576
echo sends $(cat $count/send_wrs) reads $(cat $count/rdma_read_bytes) writes $(cat $count/rdma_write_bytes)
)sh"),
                               " --functions nic0 --servers " + servers + ethernet(), board);
        ASSERT_EQ(how.status, 0) << how.output;
        EXPECT_THAT(how.output,
                    HasSubstr("[" + client + "] sends 120 reads 10487040 writes 10485760"));
    }

    static constexpr const char* pair = "tests/guest/efa/efa_pair.yaml --set device_id=0xefa3";
    /// Options for scripts that use files of the folder python; scripts must first run `cp -a
    /// /program/mpi/. /`.
    std::string with_python() const {
        return " --run " + own + "mpi --run tests/guest/efa/python ";
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
    // 100 writes of 64 KiB in one direction, and 50 of 64 bytes in each.
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

/// The driver of Linux 6.12 has no counter of repeated packets, but counts their bytes as sent.
TEST_F(EfaDebian13Guests, RequestsCompleteWhenPacketsAreLost) {
    const auto how = meeting(R"sh(
both ib_write_bw -c SRD -x 0 -d efa_0 -n 100 -s 65536
both ib_send_bw -c SRD -x 0 -d efa_0 -n 300 -s 8192
both ib_read_bw -c SRD -x 0 -d efa_0 -n 50 -s 65536
of() { cat $count/$1; }
echo writes $(of rdma_write_bytes) sends $(of send_bytes) reads $(of rdma_read_bytes)
echo errors $(of rdma_write_wr_err) $(of rdma_read_wr_err) received $(of recv_bytes)
[ $n = 0 ] || echo repeated bytes: $(($(of tx_bytes) - $(of rdma_write_bytes) - $(of send_bytes)))
)sh",
                             " --set loss_ppm=20000");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server1] writes 6553600 sends 2457600 reads 3276800"));
    EXPECT_THAT(how.output, HasSubstr("[server1] errors 0 0"));
    EXPECT_THAT(how.output, HasSubstr("[server0] errors 0 0 received 2457600"));
    EXPECT_THAT(how.output, ContainsRegex("repeated bytes: [1-9]"));
}

TEST_F(EfaDebian13Guests, TwoSledsMeet) {
    servers_meet("tests/guest/efa/two_sleds.yaml", "0,1", "server1");
}

TEST_F(EfaDebian13Guests, TwoTrainium2ServersMeet) {
    servers_meet("tests/guest/efa/two_trn2.yaml", "0,1", "server1");
}

TEST_F(EfaDebian13Guests, ServersOfATrainium2UltraServerMeet) {
    servers_meet("trn2-ultraserver", "0,1", "server1");
}

TEST_F(EfaDebian13Guests, ServersOfTwoUltraServersMeet) {
    servers_meet("ultracluster-2", "0,36", "pod1.rack0.sled0");
}

/// The reliable endpoint over its software protocol, then directly over SRD queue pairs, then
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

/// mpirun starts rank 0, and in the other guest a daemon that starts rank 1; a shell on a TCP port
/// replaces SSH.
TEST_F(EfaDebian13Guests, MpiRanksOfTwoGuestsExchangeData) {
    const auto how = meeting(R"sh(
cp -a /program/mpi/. /
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t devpts none /dev/pts
echo 'root::0:0:root:/tmp:/bin/sh' >/etc/passwd
printf '127.0.0.1 localhost\n10.0.0.10 server0\n10.0.0.11 server1\n' >/etc/hosts
hostname server$n
cat >/tmp/remote_shell <<'END'
#!/bin/sh
host=$1
shift
for try in $(seq 20); do
    echo "$*" | nc $host 514 2>/dev/null && exit 0
    sleep 1
done
END
chmod +x /tmp/remote_shell
if [ $n = 1 ]; then
    timeout 200 nc -l -p 514 -e sh || exit 2
else
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    timeout 150 mpirun --prtemca plm_ssh_agent /tmp/remote_shell --host server0,server1 -np 2 --mca pml cm --mca mtl ofi \
        --mca opal_common_ofi_provider_include efa python3 /program/python/ring.py || exit 3
fi
echo read by RDMA: $(cat $count/rdma_read_bytes)
)sh",
                             with_python());
    ASSERT_EQ(how.status, 0) << how.output;
    for (const char* server : {"0", "1"}) {
        EXPECT_THAT(how.output, HasSubstr("rank " + std::string(server) + " of 2 on server" +
                                          server + ": sum 3"));
        // The longest message, which the receiver reads by RDMA.
        EXPECT_THAT(how.output,
                    HasSubstr("[server" + std::string(server) + "] read by RDMA: 1048576"));
    }
}

/// One request copies from HBM to HBM, a second writes a semaphore for which a program on a core of
/// the target waits. The module is not part of this project: doc/guide-instance.md describes how to
/// build it.
TEST_F(EfaDebian13Guests, ChipsOfTwoUltraServersExchangeDataThroughThePublicDriver) {
    const char* const named = std::getenv("TRNVP_NEURON_MODULE_DEBIAN13");
    const std::string module = named != nullptr ? named : own + "neuron.ko";
    if (!std::filesystem::exists(module))
        GTEST_SKIP() << "no public driver in " << module
                     << ": build it (doc/guide-instance.md), or name it in "
                        "TRNVP_NEURON_MODULE_DEBIAN13";
    std::filesystem::create_directory(folder / "set");
    ASSERT_EQ(
        run(ASSEMBLER " tests/guest/efa/python/semaphore.trn -o " + (folder / "set/set")).status,
        0);
    const auto how = start(meet + std::string(R"sh(
cp -a /program/mpi/. /
for try in $(seq 60); do
    [ "$(cat /sys/class/neuron_device/neuron0/reset)" = 1 ] && break
    sleep 1
done
if [ $n = 0 ]; then
    python3 /program/python/write_hbm.py target /program/set/set || exit 2
else
    python3 /program/python/write_hbm.py 10.0.0.10 || exit 3
fi
echo written $(cat $count/rdma_write_bytes) received $(cat $count/rdma_write_recv_bytes)
)sh"),
                           with_python() + "--run " + (folder / "set") + " --module '" + module +
                               " dup_helper_enable=0 nmetric_metric_post_delay=2000000000'"
                               " --functions chip0,nic0 --servers 0,36" +
                               ethernet(),
                           "ultracluster-2");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[pod0.rack0.sled0] semaphore before: 0"));
    EXPECT_THAT(how.output, HasSubstr("[pod0.rack0.sled0] semaphore after: 1"));
    EXPECT_THAT(how.output, HasSubstr("[pod0.rack0.sled0] HBM: as written"));
    EXPECT_THAT(how.output, HasSubstr("[pod0.rack0.sled0] written 0 received 1048580"));
    EXPECT_THAT(how.output, HasSubstr("[pod1.rack0.sled0] written 1048580 received 0"));
}

/// Queue pairs of one card send, write and read; errors have the contract's status and do not stop
/// the queue pair. A process was killed before while its queue pairs wrote: the driver has freed
/// all its resources.
TEST_F(EfaDebian13Guests, CardAnswersVerbsOfPythonAfterAProcessWasKilled) {
    const auto trace = folder / "trace";
    const auto how = start(R"sh(
cp -a /program/mpi/. /
ulimit -l unlimited
python3 /program/python/endless.py >/tmp/endless & victim=$!
until grep -q writing /tmp/endless; do kill -0 $victim || exit 2; sleep 0.2; done
kill -9 $victim
wait $victim
echo status of the victim: $?
python3 /program/python/verbs_checks.py
)sh",
                           with_python() + " --trace " + trace);
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("status of the victim: 137"));
    const commands seen(trace);
    EXPECT_GE(seen.of(create_qp), 8 + 4);
    EXPECT_EQ(seen.of(create_qp), seen.of(destroy_qp));
    EXPECT_GE(seen.of(create_ah), 8 + 1);
    EXPECT_EQ(seen.of(create_ah), seen.of(destroy_ah));
    EXPECT_GE(seen.of(reg_mr), 8 + 1);
    EXPECT_EQ(seen.of(reg_mr), seen.of(dereg_mr));
    EXPECT_EQ(seen.of(create_cq), seen.of(destroy_cq));
    EXPECT_EQ(seen.of(alloc_pd), seen.of(dealloc_pd));
    EXPECT_THAT(how.output, HasSubstr("send: received"));
    EXPECT_THAT(how.output, HasSubstr("write and read: verified"));
    EXPECT_THAT(how.output, HasSubstr("send without a receive: IBV_WC_RNR_RETRY_EXC_ERR"));
    EXPECT_THAT(how.output,
                HasSubstr("write with a key that does not exist: IBV_WC_REM_ACCESS_ERR"));
    EXPECT_THAT(how.output, HasSubstr("write beyond the region: IBV_WC_REM_ACCESS_ERR"));
    EXPECT_THAT(how.output,
                HasSubstr("read into memory that is not registered: IBV_WC_LOC_PROT_ERR"));
    EXPECT_THAT(how.output, HasSubstr("send with another qkey: IBV_WC_REM_INV_RD_REQ_ERR"));
    EXPECT_THAT(how.output, HasSubstr("after errors: write 4 errors 2 1"));
    EXPECT_THAT(how.output, HasSubstr("datagram: received; the next dropped: 1"));
}

}  // namespace
}  // namespace trn::test
