// SPDX-License-Identifier: Apache-2.0
// Cost of a register access from a host in another process: client library, socket, run loop, root
// port, endpoint, BAR router, target. The peer moves the same number of bytes over a socket pair
// between two processes pinned to the same cores.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/attach/vfio_user/hooks.h"
#include "platform/framework/attach/vfio_user/server.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/bench/rows.h"
#include "tests/support/bar0.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

constexpr int accesses = 2'000, rounds = 9;
constexpr std::size_t question = 32, answer = 36;  // bytes of a 32-bit REGION_READ
std::string socket_path;

void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/// Runs `body` on `core` in a child process that is killed when this process ends.
template <typename Body>
pid_t child(int core, Body body) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(core);
    body();
    _exit(0);
}

void end(pid_t pid) {
    kill(pid, SIGTERM);
    waitpid(pid, nullptr, 0);
}

/// The peer: a process that answers on a socket pair.
class echo {
public:
    explicit echo(int core) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) std::abort();
        pid_ = child(core, [this] {
            close(ends_[0]);
            char bytes[answer] = {};
            while (read(ends_[1], bytes, question) == static_cast<ssize_t>(question)) {
                if (write(ends_[1], bytes, answer) != static_cast<ssize_t>(answer)) break;
            }
        });
        close(ends_[1]);
    }
    ~echo() {
        close(ends_[0]);
        end(pid_);
    }
    void ping_pong() {
        char bytes[answer] = {};
        if (write(ends_[0], bytes, question) != static_cast<ssize_t>(question)) std::abort();
        if (read(ends_[0], bytes, answer) != static_cast<ssize_t>(answer)) std::abort();
    }

private:
    int ends_[2];
    pid_t pid_;
};

/// The platform as started by `trnvp run --listen`, with a RAM in place of the chip.
int serve(int, char**) {
    misuse::set_rules(misuse::all_rules);
    run_loop loop({.policy = {.mode = time_policy::kind::free}});
    root_complex root("root", {});
    pcie_endpoint endpoint("endpoint", {});
    router bar0("bar0", {}), bar4("bar4", {});
    memory ram("ram", {.size = 1 << 20}), hbm("hbm", {.size = 1 << 20});
    root.port[0].join(endpoint.link);
    endpoint.bar0.bind(bar0.target);
    endpoint.bar4.bind(bar4.target);
    bar0.initiator.bind(ram.in);
    bar4.initiator.bind(hbm.in);
    bar0.map({.base = 0x6c8'0000, .size = 1 << 20, .target_base = 0, .port = 0});
    bar4.map({.base = 0, .size = 1 << 20, .target_base = 0, .port = 0});
    struct idle_initiator : sc_core::sc_module {  // in place of the chip's DMA
        tlm_utils::simple_initiator_socket<idle_initiator, 64> out{"out"};
        explicit idle_initiator(sc_core::sc_module_name name) : sc_module(name) {}
    } engine("engine");
    engine.out.bind(endpoint.dma);
    loop.elaborate();
    const vfio_user_server server(loop.io(), root.function(0),
                                  {.path = socket_path, .name = "bench"},
                                  hooks_into(loop, "bench client", "bench"));
    loop.serve();
    return 0;
}

/// The platform's process, and a client connected to it.
class platform {
public:
    explicit platform(int core) {
        pid_ = child(core, [] {
            char name[] = "bench";
            char* arguments[] = {name, nullptr};
            sc_core::sc_elab_and_sim(1, arguments);
        });
        for (int tries = 0; tries < 1000 && client_ == nullptr; ++tries) {
            trn_vfio_user_open(socket_path.c_str(), nullptr, &client_, nullptr, 0);
            if (client_ == nullptr) usleep(1000);  // the platform is still elaborating
        }
        if (client_ == nullptr) std::abort();
        const std::uint16_t memory_space = 6;
        expect(trn_vfio_user_write(client_, TRN_VFIO_USER_CONFIG, 4, &memory_space, 2));
    }
    ~platform() {
        trn_vfio_user_close(client_);
        end(pid_);
    }
    void read() { expect(trn_vfio_user_read32(client_, 0, test::bar0::misc_ram, &word_)); }
    void write() { expect(trn_vfio_user_write32(client_, 0, test::bar0::misc_ram, word_)); }
    void post() {
        expect(trn_vfio_user_post(client_, 0, test::bar0::misc_ram, &word_, sizeof word_));
    }

private:
    static void expect(int error) {
        if (error != 0) std::abort();
    }

    pid_t pid_;
    trn_vfio_user* client_ = nullptr;
    std::uint32_t word_ = 0;
};

/// Nanoseconds per `call`.
template <typename Call>
double time_each(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < accesses; ++i) call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / accesses;
}

double median(std::vector<double> runs) {
    std::ranges::sort(runs);
    return runs[runs.size() / 2];
}

/// Platform and peer alternate, so that other load of the machine affects both.
void measure(const std::string& where, int client_core, int server_core,
             std::vector<test::bench_row>& rows) {
    pin(client_core);
    echo peer(server_core);
    platform ours(server_core);
    std::vector<double> raw, read, write, post;
    for (int round = 0; round < rounds; ++round) {
        raw.push_back(time_each([&] { peer.ping_pong(); }));
        read.push_back(time_each([&] { ours.read(); }));
        write.push_back(time_each([&] { ours.write(); }));
        post.push_back(time_each([&] { ours.post(); }));
        ours.read();  // waits until posted writes have arrived
    }
    const auto row = [&](const char* name, double ns) {
        rows.push_back({.name = std::string("vfio-user ") + name + ", " + where,
                        .value = ns / 1000,
                        .unit = "us",
                        .peer = "raw Unix socket ping-pong",
                        .peer_value = median(raw) / 1000});
    };
    row("MMIO read", median(read));
    rows.back().goal = "at most 3 x the peer";
    rows.back().met = median(read) <= 3 * median(raw);
    row("MMIO write", median(write));
    row("posted MMIO write", median(post));
}

}  // namespace

int sc_main(int argc, char** argv) {
    return serve(argc, argv);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    const test::scratch_folder folder;
    socket_path = folder / "chip0.sock";
    std::vector<test::bench_row> rows;
    measure("one core", 0, 0, rows);
    if (std::thread::hardware_concurrency() > 1) measure("two cores", 0, 1, rows);
    return test::report(rows, argc, argv);
}
