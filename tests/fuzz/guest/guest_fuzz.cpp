// SPDX-License-Identifier: Apache-2.0
// A guest writes arbitrary values to registers of BAR0 and posts arbitrary descriptors: the chip
// keeps running, accesses only shared host memory, and copies correctly after a reset.
//
//     fuzz_guest [--board B] [--accesses N] [--seed S]
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/support/bar0.h"
#include "tests/support/fuzz.h"

namespace {

using namespace trn;
using test::fuzz_random;

constexpr std::uint64_t MiB = 1 << 20, host_window = std::uint64_t{1} << 46;
constexpr std::uint64_t readable_at = 1 << 20, writable_at = 4 << 20, shared_bytes = 1 << 20;
constexpr std::uint64_t accesses_per_round = 5000;
constexpr double round_limit_s = 20;

/// Memory shared by a client, between inaccessible pages: an access outside it, or a write to
/// read-only memory, kills this process.
class guarded_memory {
public:
    guarded_memory(function_port& function, std::uint64_t iova, bool writable) {
        constexpr std::uint64_t guard = 16 * MiB;
        void* all = mmap(nullptr, shared_bytes + 2 * guard, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) std::abort();
        auto* bytes = static_cast<std::uint8_t*>(all) + guard;
        if (mprotect(bytes, shared_bytes, PROT_READ | (writable ? PROT_WRITE : 0)) != 0)
            std::abort();
        if (!function.map_host({iova, shared_bytes, bytes, true, writable})) std::abort();
    }
};

/// The accesses of a guest to the chip.
class guest {
public:
    guest(device& chip, const trn_transport& door, fuzz_random& random)
        : chip_(chip), door_(door), random_(random), rings_(chip, MiB) {}

    void act() {
        switch (random_.below(16)) {
        case 0:
            post_descriptors();
            break;
        case 1:
        case 2:
            read(some_register());
            break;
        case 3:
            if (random_.below(50) == 0) chip_.check(trn_sleep(chip_, random_.below(200'000)));
            break;
        default:
            write(some_register(), some_value());
        }
    }
    std::uint64_t accesses() const { return accesses_; }

private:
    void write(std::uint64_t offset, std::uint32_t value) {
        ++accesses_;
        door_.bar_write32(door_.context, 0, offset & 0xffff'fffc, value);
    }
    void read(std::uint64_t offset) {
        ++accesses_;
        std::uint32_t value = 0;
        door_.bar_read32(door_.context, 0, offset & 0xffff'fffc, &value);
    }

    std::uint64_t engine_base() {
        static constexpr std::uint64_t groups[] = {0x8200'0000, 0x9400'0000, 0xA200'0000,
                                                   0xB400'0000};
        static constexpr std::uint64_t host[] = {0x0680'0000, 0x0690'0000, 0x4680'0000,
                                                 0x4690'0000};
        return random_.below(4) == 0 ? host[random_.below(4)]
                                     : groups[random_.below(4)] + random_.below(4) * MiB;
    }

    std::uint64_t some_register() {
        const auto near = [&](std::uint64_t base, std::uint64_t size) {
            return base + random_.below(size);
        };
        switch (random_.below(12)) {
        case 0:
            return random_.next();
        case 1:
            return near(test::bar0::misc_ram, misc_ram_regs::size);
        case 2:
            return 0x0630'0010;  // the simulator's reset register
        case 3:
            return near(0xD270'0000 + random_.below(8) * 0x400'0000, 0x2000);  // synchronisation
        case 4:
            return near(0xF000'0000 + random_.below(20) * 0x40'0000, 0x3000);  // TOP_SP
        case 5:
            return near(0x0600'1000 + random_.below(2) * 0x18'0000, 0x1000);  // notification slots
        case 6:
            return near(0x06A0'0000 + random_.below(10) * 0x4'0000, 0x1000);
        case 7:
            return near(engine_base() + 0x4'0000, 0x2000);  // SDMA misc and notifications
        case 8:
            return near(0x8C00'0000, 0x40'0000);  // error blocks
        case 9:
            return near(engine_base(), 0x4'0000);
        default:  // a queue's registers
            return engine_base() + 0x1000 + random_.below(2) * 0x2'0000 +
                   random_.below(4) * 0x1000 + 0x20 + random_.below(0xa0);
        }
    }

    std::uint32_t some_value() {
        static constexpr std::uint32_t values[] = {0,     1,           2,           4,
                                                   0x100, 0x30000,     0x3030000,   0xffff'ffff,
                                                   0x111, 0x8000'0000, 0x7fff'ffff, 64};
        return random_.below(2) == 0 ? values[random_.below(std::size(values))]
                                     : static_cast<std::uint32_t>(random_.next());
    }

    std::uint64_t some_address() {
        const std::uint64_t places[] = {
            trn_hbm_address(chip_, static_cast<std::uint32_t>(random_.below(4)), 32 * MiB),
            trn_sbuf_address(chip_, static_cast<std::uint32_t>(random_.below(8)), 0),
            trn_sbuf_address(chip_, static_cast<std::uint32_t>(random_.below(8)), 0x270'0000),
            rings_.address(),
            host_window | readable_at,
            host_window | writable_at,
            host_window | (readable_at + shared_bytes - 64),
            0x80'0000'0000 + some_register() % 0x2000'0000,
            0x10'0200'0000 + random_.below(4) * MiB,
            std::uint64_t{1} << 52,
            random_.next()};
        return places[random_.below(std::size(places))] + random_.below(1 << 16);
    }

    struct ring {
        std::uint64_t base;
        trn_descriptor* entries;  ///< nullptr: not in this process's memory
    };
    /// A ring of 256 entries in shared memory, or at an arbitrary address.
    ring some_ring() {
        constexpr std::uint64_t bytes = 256 * sizeof(trn_descriptor);
        if (random_.below(16) == 0) return {some_address() & ~std::uint64_t{0xff}, nullptr};
        const auto offset = random_.below(rings_.bytes().size() / bytes) * bytes;
        return {rings_.address() + offset,
                reinterpret_cast<trn_descriptor*>(rings_.bytes().data() + offset)};
    }

    /// Configures a ring in the driver's order; the length is mostly valid.
    void give_ring(std::uint64_t side, std::uint64_t control, const ring& given) {
        write(side + 0x20, 0x0300'0000);
        write(side + control, 0x100);
        write(side + 0x28, static_cast<std::uint32_t>(given.base));
        write(side + 0x2c, static_cast<std::uint32_t>(given.base >> 32));
        write(side + 0x30, random_.below(16) == 0
                               ? static_cast<std::uint32_t>(random_.next())
                               : static_cast<std::uint32_t>(32 + 16 * random_.below(14)));
        write(side + 0x20, 0x0303'0000);
    }

    trn_descriptor damaged(trn_descriptor one) {
        if (random_.below(8) == 0)
            one.words[random_.below(4)] = static_cast<std::uint32_t>(random_.next());
        if (random_.below(16) == 0) one.words[0] ^= 1u << random_.below(32);
        return one;
    }

    /// Configures a queue and posts valid and invalid copies.
    void post_descriptors() {
        const auto m2s = engine_base() + 0x1000 + random_.below(4) * 0x1000, s2m = m2s + 0x2'0000;
        const ring sources = some_ring(), destinations = some_ring();
        give_ring(m2s, 0xb0, sources);
        give_ring(s2m, 0x64, destinations);
        const auto count = static_cast<std::uint32_t>(1 + random_.below(31));
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto size =
                static_cast<std::uint32_t>(1 + random_.below(16) * random_.below(4096));
            if (sources.entries)
                sources.entries[i] = damaged(trn_m2s_descriptor(some_address(), size, 1, 0));
            if (destinations.entries)
                destinations.entries[i] = damaged(
                    trn_s2m_descriptor(some_address(), size + (random_.below(8) == 0), 1, 0));
        }
        write(s2m + 0x38,
              random_.below(16) == 0 ? static_cast<std::uint32_t>(random_.next()) : count);
        write(m2s + 0x38,
              random_.below(16) == 0 ? static_cast<std::uint32_t>(random_.next()) : count);
        if (random_.below(2) == 0) chip_.check(trn_sleep(chip_, random_.below(20'000)));
    }

    device& chip_;
    const trn_transport door_;
    fuzz_random& random_;
    const host_buffer rings_;
    std::uint64_t accesses_ = 0;
};

/// Recovers as a driver does; every core must then copy correctly.
void recover(device& chip, std::uint64_t seed) {
    chip.check(trn_reset_device(chip));
    std::vector<std::uint8_t> bytes(100'000), back(bytes.size());
    for (std::uint32_t core = 0; core < chip.info().cores; ++core) {
        pattern(seed + core).fill(bytes);
        const auto at = trn_hbm_address(chip, core / 2, 1024 * MiB + core * MiB);
        chip.check(trn_write(chip, core, at, bytes.data(), bytes.size()));
        chip.check(trn_read(chip, core, back.data(), at, back.size()));
        if (back != bytes) throw std::runtime_error("a copy after the reset is wrong");
    }
}

struct campaign {
    std::string board = "trn3-chip-sim";
    std::uint64_t accesses = 100'000, seed = 1;
};

campaign read_campaign(int argc, char** argv) {
    campaign plan;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--board") plan.board = argv[i + 1];
        if (option == "--accesses") plan.accesses = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--seed") plan.seed = std::strtoull(argv[i + 1], nullptr, 0);
    }
    if (const char* more = std::getenv("TRNVP_FUZZ_ACCESSES"))
        plan.accesses = std::strtoull(more, nullptr, 0);
    return plan;
}

void play(const campaign& plan, host_cpu& cpu) {
    std::uint64_t done = 0;
    double slowest = 0;
    device chip(cpu.transport());
    chip.check(trn_probe(chip));
    recover(chip, 0);
    for (std::uint64_t round = 0; done < plan.accesses; ++round) {
        test::detail::current_input = round;
        fuzz_random random(plan.seed * 0x2545f4914f6cdd1dull + round);
        const double started = test::processor_seconds();
        guest wild(chip, cpu.transport(), random);
        while (wild.accesses() < accesses_per_round) wild.act();
        done += wild.accesses();
        recover(chip, round);
        const double took = test::processor_seconds() - started;
        slowest = std::max(slowest, took);
        if (took > round_limit_s) throw std::runtime_error("a round took too long");
    }
    std::printf("%llu accesses, slowest round %.1f s\n", static_cast<unsigned long long>(done),
                slowest);
}

/// Prints the counts of detected misuse. A run without any is an error.
int report_detected_misuse() {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& each : misuse::summary()) counts[each.broken.name] += each.count;
    for (const auto& [name, count] : counts)
        std::printf("  %-26s %llu\n", name.data(), static_cast<unsigned long long>(count));
    for (const auto& rule :
         {misuse::ring_id_mismatch, misuse::unmapped_source, misuse::unmapped_destination,
          misuse::length_mismatch, misuse::dma_outside_host_memory, misuse::no_neighbour})
        if (misuse::count(rule) == 0)
            return std::fprintf(stderr, "%s was never reached\n", rule.name.data()), 1;
    return 0;
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    const campaign plan = read_campaign(argc, argv);
    log::replace_sink({});
    for (const int s : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
        signal(s, test::detail::report_crash);
    test::detail::current_seed = plan.seed;
    platform board(kinds(), {.board = plan.board});
    misuse::set_policy_of_all(misuse::policy::count);
    function_port* function = board.functions().at(0).port;
    host_cpu cpu(*function, {});
    const guarded_memory readable(*function, readable_at, false);
    const guarded_memory writable(*function, writable_at, true);
    board.boot(sc_core::sc_time(1, sc_core::SC_SEC));
    cpu.run([&] { play(plan, cpu); });
    run_loop::goal goal{"the fuzzer", "its guest"};
    goal.condition = [&] { return cpu.idle(); };
    const auto how = board.loop().run(std::move(goal));
    try {
        cpu.rethrow();
    } catch (const std::exception& wrong) {
        return std::fprintf(stderr, "round %llu of seed %llu: %s\n",
                            static_cast<unsigned long long>(test::detail::current_input),
                            static_cast<unsigned long long>(plan.seed), wrong.what()),
               1;
    }
    if (!cpu.idle()) return std::fprintf(stderr, "%s\n", how.text.c_str()), 1;
    return report_detected_misuse();
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
