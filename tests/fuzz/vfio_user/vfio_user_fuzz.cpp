// SPDX-License-Identifier: Apache-2.0
// A client that sends arbitrary bytes gets replies or is disconnected; the next client is served.
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <cstdlib>

#include "models/misuse_rules.h"
#include "platform/framework/attach/vfio_user/server.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/fuzz.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"
#include "tests/unit/pcie/pcie/pcie_fixture.h"

namespace {

using namespace trn;
using test::fuzz_random;
using bytes = std::vector<std::uint8_t>;

/// Mostly boundary values: limits, and limits plus one.
std::uint64_t interesting(fuzz_random& random) {
    static constexpr std::uint64_t values[] = {0,           1,
                                               2,           3,
                                               4,           7,
                                               8,           9,
                                               16,          32,
                                               33,          0x1000,
                                               0x1fff,      0x10'0000,
                                               0x10'0001,   0x8000'0000,
                                               0xffff'ffff, 0x1'0000'0000,
                                               ~0ull,       ~0ull - 0xfff,
                                               1ull << 63,  0x21,
                                               0x24,        0x22};
    return random.below(4) == 0 ? random.next() : values[random.below(std::size(values))];
}

/// A payload of numbers or of bytes; sometimes a valid one.
bytes payload(fuzz_random& random, std::uint16_t command) {
    bytes made;
    if (random.below(3) == 0) {
        made.resize(random.below(200));
        for (auto& byte : made) byte = static_cast<std::uint8_t>(random.next());
        return made;
    }
    const bool wide_first = command == 9 || command == 10 || command == 11 || command == 12;
    const std::size_t narrow = wide_first ? 0 : 2 + random.below(4);
    for (std::size_t i = 0; i < narrow; ++i) {
        const auto word = test::packed(static_cast<std::uint32_t>(interesting(random)));
        made.insert(made.end(), word.begin(), word.end());
    }
    for (std::size_t i = random.below(5); i > 0; --i) {
        const auto word = test::packed(interesting(random));
        made.insert(made.end(), word.begin(), word.end());
    }
    if (wide_first) {                               // a valid access
        const bool is_slow = random.below(3) == 0;  // memory that defers the access
        const auto access = test::packed(
            (interesting(random) & 0xfff) | (is_slow ? test::pcie_system::slow_at : 0),
            is_slow ? 0 : std::uint32_t(random.below(10)), std::uint32_t(random.below(80)));
        std::copy_n(access.begin(), std::min(access.size(), made.size()), made.begin());
    }
    return made;
}

struct descriptors {
    std::vector<int> all{memfd_create("fuzz", MFD_CLOEXEC), memfd_create("empty", MFD_CLOEXEC),
                         eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    descriptors() {
        if (ftruncate(all[0], 1 << 20) != 0) std::abort();
        int ends[2];
        if (pipe(ends) != 0) std::abort();
        all.push_back(ends[1]);
        const int huge = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
        if (huge >= 0 && ftruncate(huge, 2 << 20) == 0) all.push_back(huge);
    }
    /// As a client that resizes memory which it has shared.
    void resize(fuzz_random& random) const {
        if (ftruncate(all[0], static_cast<off_t>(random.below(2) * (1 << 20))) != 0) std::abort();
    }
    std::vector<int> some(fuzz_random& random) const {
        std::vector<int> chosen;
        if (random.below(3) != 0) return chosen;
        for (auto n = random.below(18); n > 0; --n) chosen.push_back(all[random.below(all.size())]);
        return chosen;
    }
};

void talk(test::raw_peer& peer, boost::asio::io_context& io, const descriptors& fds,
          fuzz_random& random) {
    if (random.below(10) != 0) {
        peer.send(1,
                  test::packed(std::uint32_t{0}, std::uint16_t{'{' | '}' << 8}, std::uint8_t{0}));
    }
    if (random.below(2) == 0) {  // enables memory space and bus mastering
        peer.send(10, test::packed(std::uint64_t{4}, std::uint32_t{7}, std::uint32_t{2},
                                   std::uint16_t{6}));
    }
    if (random.below(2) == 0) {  // shares memory at address 0, of huge pages if there are any
        const auto file = fds.all[random.below(2) == 0 ? 0 : fds.all.size() - 1];
        peer.send(2,
                  test::packed(std::uint32_t{32}, std::uint32_t{3}, std::uint64_t{0},
                               std::uint64_t{0}, std::uint64_t{1 << 20}),
                  {file});
        io.poll();
    }
    for (auto n = random.below(20); n > 0; --n) {
        const auto command = static_cast<std::uint16_t>(
            random.below(20) == 0 ? random.next() : 1 + random.below(15));
        const auto flags =
            random.below(8) != 0 ? 0u : static_cast<std::uint32_t>(interesting(random));
        const auto claimed =
            random.below(30) != 0 ? 0u : static_cast<std::uint32_t>(interesting(random));
        peer.send(command, payload(random, command), fds.some(random), flags, claimed);
        if (random.below(2) == 0) io.poll();
        if (random.below(4) == 0)
            sc_core::sc_start(static_cast<double>(random.below(200)), sc_core::SC_NS);
    }
    io.poll();
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    test::pcie_system chip;
    test::scratch_folder folder;
    boost::asio::io_context io;
    const std::string path = folder / "fuzz.sock";
    const vfio_user_server server(io, chip.root, {.path = path},
                                  {.before_access = {},
                                   .after_access = {},
                                   .may_answer = {},
                                   .attached = {},
                                   .wait = {},
                                   .log = [](std::string_view) {}});
    const descriptors fds;
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        // Sometimes later than the completion timeout.
        chip.slow.latency = random.below(4) == 0 ? sc_core::sc_time(20, sc_core::SC_MS)
                                                 : sc_core::sc_time(100, sc_core::SC_NS);
        {
            test::raw_peer peer(path);
            io.poll();
            talk(peer, io, fds, random);
            if (random.below(2) == 0) fds.resize(random);
            // DMA to arbitrary addresses.
            chip.engine.write<std::uint32_t>(interesting(random) & 0xffff'ffff, 1);
            chip.engine.read(random.below(1 << 20) & ~3u);
            chip.endpoint.interrupt(static_cast<unsigned>(random.below(40)));
            if (random.below(8) == 0) sc_core::sc_start(30, sc_core::SC_MS);
            if (server.attached()) io.poll();
        }
        io.restart();
        io.poll();
        if (server.attached()) std::abort();  // the disconnect must have been detected
        test::raw_peer next(path);
        io.poll();
        next.send(1,
                  test::packed(std::uint32_t{0}, std::uint16_t{'{' | '}' << 8}, std::uint8_t{0}));
        next.send(9, test::packed(std::uint64_t{0}, std::uint32_t{7}, std::uint32_t{4}));
        io.poll();
        if (!next.receive().ok()) std::abort();
        if (next.receive().at<std::uint32_t>(16) != 0x7564'1d0f) std::abort();
        chip.slow.latency = sc_core::sc_time(100, sc_core::SC_NS);
        next.send(10, test::packed(std::uint64_t{4}, std::uint32_t{7}, std::uint32_t{2},
                                   std::uint16_t{6}));
        next.send(9, test::packed(test::pcie_system::slow_at, std::uint32_t{0}, std::uint32_t{4}));
        io.poll();
        if (!chip.complex.describe_wait()) std::abort();
        sc_core::sc_start(1, sc_core::SC_US);
        io.poll();
        for (int replies = 0; replies < 2; ++replies)
            if (!next.receive().ok()) std::abort();
        next.hang_up();
        io.poll();
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
