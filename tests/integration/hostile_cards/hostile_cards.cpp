// SPDX-License-Identifier: Apache-2.0
// A hostile host in a separate process drives a card or a disk of one server over vfio-user with
// random commands, work, memory lists and doorbells, while another process verifies copies on the
// other two servers. The platform must keep running within its memory limit, all copies and the
// memory around them must be correct, and after a reset the hostile host's card must work too.
// `--door efa|ena|nvme [--inputs N] [--seed S]`
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cards/attached.h"
#include "tests/support/cards/efa_work.h"
#include "tests/support/cards/ena_work.h"
#include "tests/support/cards/nvme_work.h"
#include "tests/support/fuzz.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn::test;

struct options {
    std::string door;
    std::uint64_t inputs = 5'000, seed = 1;
};

/// Shared by both processes.
struct progress {
    std::atomic<std::uint64_t> verified = 0;
    std::atomic<bool> ends = false;
};

using hostile_input = std::function<void(fuzz_random&)>;
using verification = std::function<void(fuzz_random&)>;

/// Functions for one kind of card; the hostile and the verifying side run in separate processes.
struct door {
    /// Returns a function that first resets the card and verifies a copy, and then sends one input
    /// per call.
    std::function<hostile_input(const std::string& sockets, fuzz_random& random)> attack;
    std::function<verification(const std::string& sockets)> victim;
};

std::string socket_of(const std::string& sockets, unsigned server, const char* function) {
    return sockets + "/server" + std::to_string(server) + "." + function + ".sock";
}

/// Host memory that no work uses.
constexpr std::uint64_t guarded_at = 48 << 20, guarded_bytes = 256 << 10;
constexpr std::uint64_t inputs_of_a_driver = 250;  // followed by a reset of the card

void guard(card_host& host) {
    std::memset(host.bytes(guarded_at), 0xa5, guarded_bytes);
}

void check_guard(card_host& host) {
    static const std::vector<std::uint8_t> expected(guarded_bytes, 0xa5);
    require(std::memcmp(host.bytes(guarded_at), expected.data(), guarded_bytes) == 0,
            "memory beside the victim's copies has changed");
}

/// Resets and verifies first, and again after that number of inputs. After one in `pauses` inputs
/// time advances.
template <class State, class Input>
hostile_input inputs_of(std::shared_ptr<State> now, fuzz_random& random, unsigned pauses,
                        Input input) {
    now->reset(random);
    return [now, pauses, input, count = std::uint64_t{0}](fuzz_random& source) mutable {
        if (++count % inputs_of_a_driver == 0) now->reset(source);
        input(*now, source);
        if (source.below(pauses) == 0)
            now->host.advance(static_cast<double>(1 + source.below(300)));
    };
}

// --- EFA

using efa_host = attached<verbs_host>;

hostile_input attack_efa(const std::string& sockets, fuzz_random& random) {
    using namespace efa_work;
    struct state {
        explicit state(const std::string& socket) : host(socket) {}
        void reset(fuzz_random& source) {
            host.forget();
            host.expects_answers = true;
            host.start();
            own = std::make_unique<copier>(host, host);
            // The victims' GIDs follow the hostile host's.
            auto gid = host.gid();
            gid.back() = static_cast<std::uint8_t>(gid.back() + 1);
            to_victim = host.create_ah(own->pd, gid);
            copy_and_compare(*own, *own, source);
            host.expects_answers = false;
        }
        efa_host host;
        std::unique_ptr<copier> own;
        std::uint16_t to_victim = 0;
    };
    auto now = std::make_shared<state>(socket_of(sockets, 0, "efa"));
    return inputs_of(now, random, 8, [](state& at, fuzz_random& source) {
        switch (source.below(4)) {
        case 0:
            some_noise(at.host, source);
            break;
        case 1:
            some_command(at.host, source);
            break;
        default:
            some_work(*at.own, *at.own, source.below(2) == 0 ? at.own->ah : at.to_victim, source);
        }
    });
}

verification verify_efa(const std::string& sockets) {
    using namespace efa_work;
    struct state {
        state(const std::string& one, const std::string& other) : a(one), b(other) {}
        void reset() {
            for (auto* const each : {&a, &b}) {
                each->forget();
                each->start();
            }
            left = std::make_unique<copier>(a, b);
            right = std::make_unique<copier>(b, a);
        }
        efa_host a, b;
        std::unique_ptr<copier> left, right;
    };
    auto now = std::make_shared<state>(socket_of(sockets, 1, "efa"), socket_of(sockets, 2, "efa"));
    guard(now->a);
    guard(now->b);
    return [now](fuzz_random& random) {
        now->reset();
        for (unsigned i = 0; i < 10; ++i) {
            copy_and_compare(*now->left, *now->right, random);
            copy_and_compare(*now->right, *now->left, random);
        }
        check_guard(now->a);
        check_guard(now->b);
    };
}

// --- ENA

using ena_host = attached<network_host>;

hostile_input attack_ena(const std::string& sockets, fuzz_random& random) {
    using namespace ena_work;
    struct state {
        explicit state(const std::string& socket) : host(socket) {}
        void reset(fuzz_random& source) {
            host.expects_answers = true;
            host.start();
            own = std::make_unique<talker>(host, std::uint8_t{1});
            // The send completes, but a switch does not return a packet to its sender.
            static_cast<void>(send_and_compare(*own, *own, source));
            host.expects_answers = false;
        }
        ena_host host;
        std::unique_ptr<talker> own;
    };
    auto now = std::make_shared<state>(socket_of(sockets, 0, "ena"));
    return inputs_of(now, random, 8, [](state& at, fuzz_random& source) {
        switch (source.below(4)) {
        case 0:
            some_noise(at.host, source);
            break;
        case 1:
            some_command(at.host, source);
            break;
        default:
            some_descriptors(*at.own, source);
        }
    });
}

verification verify_ena(const std::string& sockets) {
    using namespace ena_work;
    struct state {
        state(const std::string& one, const std::string& other) : a(one), b(other) {}
        void reset() {
            a.start();
            b.start();
            left = std::make_unique<talker>(a, std::uint8_t{2});
            right = std::make_unique<talker>(b, std::uint8_t{3});
        }
        ena_host a, b;
        std::unique_ptr<talker> left, right;
    };
    auto now = std::make_shared<state>(socket_of(sockets, 1, "ena"), socket_of(sockets, 2, "ena"));
    guard(now->a);
    guard(now->b);
    return [now](fuzz_random& random) {
        now->reset();
        // Multicast packets may use up the victim's buffers: at least one in a hundred must arrive.
        unsigned arrived = 0;
        for (unsigned i = 0; i < 100; ++i) {
            arrived += send_and_compare(*now->left, *now->right, random);
            arrived += send_and_compare(*now->right, *now->left, random);
            if (arrived >= 10) break;
        }
        require(arrived > 1, "the victim's packets do not arrive");
        check_guard(now->a);
        check_guard(now->b);
    };
}

// --- NVMe

using nvme_host = attached<disk_host>;

hostile_input attack_nvme(const std::string& sockets, fuzz_random& random) {
    using namespace nvme_work;
    struct state {
        explicit state(const std::string& socket) : host(socket) {}
        void reset(fuzz_random& source) {
            host.start();
            copy_and_compare(host, source);
        }
        nvme_host host;
    };
    auto now = std::make_shared<state>(socket_of(sockets, 0, "disk"));
    return inputs_of(now, random, 4, [](state& at, fuzz_random& source) {
        if (source.below(2) == 0)
            some_noise(at.host, source);
        else
            some_command(at.host, source);
    });
}

verification verify_nvme(const std::string& sockets) {
    auto host = std::make_shared<nvme_host>(socket_of(sockets, 1, "disk"));
    guard(*host);
    return [host](fuzz_random& random) {
        host->start();
        for (unsigned i = 0; i < 20; ++i) nvme_work::copy_and_compare(*host, random);
        check_guard(*host);
    };
}

// --- Main program

/// Verifies until the hostile host has ended, and once more afterwards.
void be_victim(const door& of, const std::string& sockets, std::uint64_t seed, progress& shared) {
    fuzz_random random(seed);
    const auto verify = of.victim(sockets);
    for (bool last = false;; ++shared.verified) {
        verify(random);
        if (last) break;
        last = shared.ends;
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
}

std::uint64_t resident_mib(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

int run_door(const options& wanted) {
    constexpr std::uint64_t max_resident_mib = 2048;
    const door doors[] = {
        {attack_efa, verify_efa}, {attack_ena, verify_ena}, {attack_nvme, verify_nvme}};
    const std::size_t number = wanted.door == "efa" ? 0 : wanted.door == "ena" ? 1 : 2;
    const door& of = doors[number];
    const scratch_folder folder;
    background platform({TRNVP, "run", "tests/integration/hostile_cards/three_servers.yaml",
                         "--listen", folder / "sockets"},
                        folder / "log");
    const auto sockets = folder / "sockets";
    const auto is_there = [&] { return std::filesystem::exists(socket_of(sockets, 2, "disk")); };
    require(eventually([&] { return is_there() || !platform.running(); }) && is_there(),
            "the platform does not start");

    void* const page =
        mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(page != MAP_FAILED, "no memory");
    auto& shared = *new (page) progress;
    const pid_t victim = fork();
    if (victim == 0) be_victim(of, sockets, wanted.seed + 1, shared);
    require(
        eventually([&] { return shared.verified > 0 || waitpid(victim, nullptr, WNOHANG) != 0; }),
        "the victim does not start");

    const auto begin = std::chrono::steady_clock::now();
    const auto verified_before = shared.verified.load();
    fuzz_random random(wanted.seed);
    auto input = of.attack(sockets, random);
    for (std::uint64_t i = 0; i < wanted.inputs; ++i) {
        input(random);
        if (i % 1000 != 0) continue;
        require(platform.running(), "the platform has ended");
        require(resident_mib(platform.id()) < max_resident_mib, "the platform takes much memory");
    }
    const auto verified = shared.verified.load() - verified_before;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    shared.ends = true;
    int how = 0;
    require(waitpid(victim, &how, 0) == victim && WIFEXITED(how) && WEXITSTATUS(how) == 0,
            "the victim's copies went wrong");
    input = {};
    of.attack(sockets, random);  // a new driver: checks that the card works after a reset
    require(verified > 0, "the victim did not verify meanwhile");
    std::printf(
        "%s: %llu inputs in %.1f s, %llu verifications meanwhile, platform of %llu MiB, log of "
        "%llu KiB\n",
        wanted.door.c_str(), static_cast<unsigned long long>(wanted.inputs), took.count(),
        static_cast<unsigned long long>(verified),
        static_cast<unsigned long long>(resident_mib(platform.id())),
        static_cast<unsigned long long>(std::filesystem::file_size(folder / "log") >> 10));
    require(platform.end() == 0, "the platform ended with an error");
    return testing::Test::HasFailure() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    options wanted;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--door") wanted.door = argv[i + 1];
        if (option == "--inputs") wanted.inputs = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--seed") wanted.seed = std::strtoull(argv[i + 1], nullptr, 0);
    }
    if (wanted.door != "efa" && wanted.door != "ena" && wanted.door != "nvme") {
        std::fprintf(stderr, "hostile_cards --door efa|ena|nvme [--inputs N] [--seed S]\n");
        return 2;
    }
    return run_door(wanted);
}
