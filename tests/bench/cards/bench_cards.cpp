// SPDX-License-Identifier: Apache-2.0
// Wall time of disk reads, of packets between two ENA cards and of RDMA writes between two EFA
// cards, driven over vfio-user by hosts in a separate process. The peers move the same number of
// bytes on this machine: memcpy, and datagrams of a socket pair between two processes.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/cards/memory.h"
#include "tests/bench/cards/rdma.h"
#include "tests/bench/rows.h"
#include "tests/support/cards/attached.h"
#include "tests/support/cards/disk_host.h"
#include "tests/support/cards/network_host.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn::test;

constexpr std::uint64_t read_bytes = 128 << 10;
constexpr std::uint64_t disk_bytes = 16 << 20;
constexpr unsigned outstanding = 15;  // reads; the maximum for the queue
constexpr std::uint32_t reads = 1500;
constexpr std::uint16_t packet_bytes = 9000;
constexpr unsigned depth = 64;  // entries of each packet ring

/// GB/s of disk reads into the memory of a driver in another process, which polls.
double read_rate(const std::string& sockets) {
    constexpr std::uint64_t data = 1 << 20, lists = 0x20000;
    constexpr std::uint32_t block = 512;
    attached<disk_host> host(sockets + "/server0.disk.sock");
    host.start();
    for (std::uint32_t n = 0; n < outstanding; ++n)
        for (std::uint32_t page = 1; page < read_bytes / 4096; ++page)
            host.store<std::uint64_t>(lists + n * 4096 + (page - 1) * 8,
                                      data + n * read_bytes + page * 4096);
    const auto command = [&](std::uint8_t opcode, std::uint32_t number) {
        const std::uint64_t n = number % outstanding;
        return disk_host::command(opcode)
            .prps(data + n * read_bytes, lists + n * 4096)
            .wide(10, number * read_bytes % disk_bytes / block)
            .set(12, read_bytes / block - 1);
    };
    for (std::uint32_t i = 0; i < disk_bytes / read_bytes; ++i) {
        std::memset(host.bytes(data + i % outstanding * read_bytes), static_cast<int>(i + 1),
                    read_bytes);
        require(host.execute(1, command(1, i)).status() == 0, "a write has failed");
    }
    const double ns = nanoseconds_each(reads, [&] {
        std::uint32_t posted = 0, done = 0;
        while (done < reads) {
            for (; posted < reads && posted - done < outstanding; ++posted)
                host.place(1, command(2, posted));
            host.ring_tail(1);
            host.advance(400);  // time of eight reads of the medium
            while (const auto how = host.take(1)) {
                require(how->status() == 0, "a read has failed");
                ++done;
            }
            host.ring_head(1);
        }
    });
    for (std::uint32_t n = 0; n < outstanding; ++n)  // the remaining reads
        require(*host.bytes(data + n * read_bytes) ==
                    (reads - outstanding + n) % (disk_bytes / read_bytes) + 1,
                "a read is wrong");
    return read_bytes / ns;
}

/// GB/s of packets between two hosts in another process than the platform.
double packet_rate(const std::string& sockets) {
    constexpr unsigned packets = 4'000, batch = depth / 2;
    attached<network_host> a(sockets + "/server0.ena.sock"), b(sockets + "/server1.ena.sock");
    a.start();
    b.start();
    auto out = a.create(true, depth, 1), in = b.create(false, depth, 1);
    const auto from = a.allocate(packet_bytes);
    const auto to = b.allocate(depth * std::uint64_t{16384});
    constexpr std::array<std::uint8_t, 12> header{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
    std::memcpy(a.bytes(from), header.data(), header.size());
    const auto offer = [&] {
        b.offer(in, static_cast<std::uint16_t>(in.posted % depth),
                to + in.posted % depth * std::uint64_t{16384}, 16384);
    };
    for (unsigned i = 0; i < depth; ++i) offer();
    b.ring(in);
    const double ns = nanoseconds_each(packets, [&] {
        for (unsigned done = 0; done < packets;) {
            for (unsigned i = 0; i < batch; ++i)
                a.describe(out, static_cast<std::uint16_t>(i), {{from, packet_bytes}});
            a.ring(out);
            for (unsigned here = 0; here < batch;) {
                a.advance(20);
                while (const auto packet = b.take(in)) {
                    require(packet->length == packet_bytes, "a packet is short");
                    offer();
                    ++here;
                    ++done;
                }
                while (a.take(out)) {
                }
            }
            b.ring(in);
        }
    });
    return packet_bytes / ns;
}

/// GB/s of datagrams of the same size between two processes.
double datagram_rate() {
    constexpr unsigned packets = 20'000;
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "no socket pair");
    const pid_t reader = fork();
    std::array<std::uint8_t, packet_bytes> bytes{};
    if (reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        for (unsigned n = 1; read(ends[1], bytes.data(), bytes.size()) > 0; ++n)
            if (n % packets == 0 && write(ends[1], bytes.data(), 1) != 1) break;
        _exit(0);
    }
    close(ends[1]);
    const double ns = nanoseconds_each(packets, [&] {
        for (unsigned n = 0; n < packets; ++n)
            require(write(ends[0], bytes.data(), bytes.size()) == packet_bytes, "not written");
        require(read(ends[0], bytes.data(), 1) == 1, "not read");
    });
    close(ends[0]);
    waitpid(reader, nullptr, 0);
    return packet_bytes / ns;
}

/// Three servers, each with an EFA card, an ENA card and a disk.
class platform {
public:
    platform(const scratch_folder& folder, const std::string& time_policy)
        : sockets(folder / time_policy),
          run_({TRNVP, "run", "tests/integration/hostile_cards/three_servers.yaml", "--listen",
                sockets, "--time-policy", time_policy},
               sockets + ".log") {
        require(eventually([&] {
                    return std::filesystem::exists(sockets + "/server2.disk.sock") ||
                           !run_.running();
                }),
                "the platform does not start");
    }

    const std::string sockets;

private:
    background run_;
};

}  // namespace

int main(int argc, char** argv) {
    const scratch_folder folder;
    const platform free(folder, "free"), lockstep(folder, "lockstep");
    std::vector<bench_row> rows;
    const double copied = memcpy_rate(read_bytes, disk_bytes, outstanding * read_bytes),
                 read = read_rate(free.sockets);
    rows.push_back({.name = "NVMe: reads of 128 KiB by a host in another process",
                    .value = read,
                    .unit = "GB/s",
                    .goal = "at least 0.25 x the peer",
                    .met = read >= 0.25 * copied,
                    .peer = "memcpy",
                    .peer_value = copied});
    rows.push_back({.name = "ENA: packets of 9000 bytes between two hosts",
                    .value = packet_rate(free.sockets),
                    .unit = "GB/s",
                    .peer = "datagrams of a socket pair between two processes",
                    .peer_value = datagram_rate()});
    std::ranges::copy(rdma_rows(free.sockets, lockstep.sockets), std::back_inserter(rows));
    return report(rows, argc, argv);
}
