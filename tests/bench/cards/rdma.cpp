// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cards/rdma.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/bench/cards/memory.h"
#include "tests/support/cards/attached.h"
#include "tests/support/cards/verbs_host.h"

namespace trn::test {

namespace {

constexpr std::uint64_t buffers = 8, buffer_bytes = 1 << 20;
constexpr std::uint64_t outstanding = 16;  // writes, which take about 340 us of simulated time
constexpr std::uint64_t va = 0x10'0000'0000;
constexpr std::uint32_t qkey = 7;

/// One queue pair, and memory that the peer may write.
struct side {
    explicit side(const std::string& socket) : host(socket) {
        host.start();
        pd = host.alloc_pd();
        const auto uar = host.alloc_uar();
        cq = host.create_cq(uar, 64);
        qp = host.create_qp(pd, uar, verbs_host::srd, cq.number, cq.number);
        host.to_rts(qp, qkey);
        memory = host.allocate(buffers * buffer_bytes);
        key = host.reg_mr(pd, memory, buffers * buffer_bytes, va);
    }

    attached<verbs_host> host;
    std::uint16_t pd = 0;
    verbs_host::completion_ring cq;
    verbs_host::queue qp;
    std::uint64_t memory = 0;
    std::uint32_t key = 0;
};

/// Writes from one server to another.
class writer {
public:
    explicit writer(const std::string& sockets)
        : from_(sockets + "/server0.efa.sock"), to_(sockets + "/server1.efa.sock") {
        path_ = from_.host.create_ah(from_.pd, to_.host.gid());
        // A target accepts RDMA from known peers only.
        to_.host.create_ah(to_.pd, from_.host.gid());
    }

    /// Microseconds of simulated time from the doorbell until the bytes are in the target's memory.
    /// Needs lockstep: time advances only during the waits here.
    double latency() {
        constexpr unsigned messages = 200;
        std::uint64_t sum = 0;
        for (std::uint64_t n = 1; n <= messages; ++n) {
            from_.host.store(from_.memory, n);
            post(0, sizeof n);
            const auto begin = from_.host.nanoseconds();
            from_.host.advance(10);
            while (to_.host.load<std::uint64_t>(to_.memory) != n) from_.host.advance(0.05);
            sum += from_.host.nanoseconds() - begin;
            finish(1, 20);
        }
        return static_cast<double>(sum) / messages / 1000;
    }

    /// Wall time in nanoseconds of a message of 8 bytes to its completion; one message at a time.
    double message() {
        constexpr unsigned messages = 2000;
        return nanoseconds_each(messages, [&] {
            for (unsigned i = 0; i < messages; ++i) {
                post(0, 8);
                finish(1, 35);  // round trip
            }
        });
    }
    /// Wall time in nanoseconds of a register read of the same card.
    double round_trip() {
        constexpr unsigned reads = 2000;
        return nanoseconds_each(reads, [&] {
            for (unsigned i = 0; i < reads; ++i) from_.host.get(0x58);
        });
    }

    /// GB/s of writes of full buffers.
    double rate() {
        constexpr std::uint64_t writes = 64;
        for (std::uint64_t i = 0; i < buffers; ++i)
            std::memset(from_.host.bytes(from_.memory + i * buffer_bytes), static_cast<int>(i + 1),
                        buffer_bytes);
        const double ns = nanoseconds_each(writes * buffer_bytes, [&] {
            std::uint64_t posted = 0;
            for (std::uint64_t done = 0; done < writes; done += finished(100))
                for (; posted < std::min(writes, done + outstanding); ++posted)
                    post(posted % buffers, buffer_bytes);
        });
        require(std::memcmp(from_.host.bytes(from_.memory), to_.host.bytes(to_.memory),
                            buffers * buffer_bytes) == 0,
                "a write is wrong");
        return 1 / ns;
    }

private:
    void post(std::uint64_t buffer, std::uint64_t bytes) {
        const auto at = va + buffer * buffer_bytes;
        const auto length = static_cast<std::uint32_t>(bytes);
        from_.host.post(from_.qp, {.operation = 2,
                                   .to_qp = to_.qp.number,
                                   .ah = path_,
                                   .qkey = qkey,
                                   .local = {{from_.key, at, length}},
                                   .remote = {to_.key, at, length}});
    }
    /// Number of completions after `microseconds` of simulated time.
    std::uint64_t finished(double microseconds) {
        std::uint64_t count = 0;
        from_.host.advance(microseconds);
        while (const auto done = from_.host.poll(from_.cq)) {
            require(done->status == 0, "a write has failed");
            ++count;
        }
        return count;
    }
    /// Polls for completions every `microseconds` of simulated time.
    void finish(std::uint64_t count, double microseconds) {
        while (count > 0) count -= finished(microseconds);
    }

    side from_, to_;
    std::uint16_t path_ = 0;
};

/// From the boards' parameters: processing in the sender, the shortest path, and half of the
/// spread.
constexpr double expected_latency = 1.5 + 12.2 + 1.0 / 2;  // us

}  // namespace

std::vector<bench_row> rdma_rows(const std::string& sockets, const std::string& lockstep) {
    const double latency = writer(lockstep).latency();
    writer writes(sockets);
    const double message = writes.message(), round_trip = writes.round_trip(), rate = writes.rate(),
                 copied = memcpy_rate(buffer_bytes, buffers * buffer_bytes, buffers * buffer_bytes);
    return {{.name = "EFA: RDMA write of 8 bytes between two servers, simulated",
             .value = latency,
             .unit = "us",
             .goal = "within 5 % of the peer",
             .met = std::abs(latency - expected_latency) <= 0.05 * expected_latency,
             .peer = "parameters of the cards and the fabric",
             .peer_value = expected_latency},
            {.name = "EFA: RDMA write of 8 bytes, to its completion",
             .value = message / 1000,
             .unit = "us",
             .goal = "less than 4 x the peer",
             .met = message < 4 * round_trip,
             .peer = "vfio-user read of a register",
             .peer_value = round_trip / 1000},
            {.name = "EFA: RDMA writes of 1 MiB",
             .value = rate,
             .unit = "GB/s",
             .goal = "at least 0.25 x the peer",
             .met = rate >= 0.25 * copied,
             .peer = "memcpy",
             .peer_value = copied}};
}

}  // namespace trn::test
