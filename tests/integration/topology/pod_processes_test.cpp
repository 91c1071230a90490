// SPDX-License-Identifier: Apache-2.0
// A Trainium2 UltraServer in one process and its four hosts in four others: each takes part in the
// election over sockets (contract 11).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

constexpr unsigned nodes = 4, chips = 16;
constexpr std::uint64_t limit = 600'000'000'000;  // nanoseconds, of an attempt

struct outcome {
    int status = -1;
    trn_pod pod{};
    std::uint64_t serial = 0;  ///< of the node's primary
    std::array<char, 200> why{};
};

/// One of the four hosts: drives its server's chips and takes part in the election.
outcome elect(const std::string& sockets, unsigned node) {
    outcome mine;
    try {
        trn_options options{};
        options.platform = TRN_HOST_ULTRASERVER;
        std::vector<std::unique_ptr<device>> owned;
        std::vector<trn_device*> devices;
        for (unsigned c = 0; c < chips; ++c) {
            trn_transport transport{};
            const auto socket = fmt::format("{}/server{}.chip{}.sock", sockets, node, c);
            if (trn_vfio_user_transport(socket.c_str(), nullptr, &transport, mine.why.data(),
                                        mine.why.size()) != 0)
                return mine;
            auto& one = *owned.emplace_back(std::make_unique<device>(transport, options));
            one.check(trn_probe(one));
            one.check(trn_reset_device(one));
            devices.push_back(one);
        }
        owned[0]->check(trn_get_serial(devices[0], &mine.serial));
        mine.status = trn_pod_elect_node(devices.data(), chips, limit, &mine.pod);
        if (mine.status != TRN_OK)
            std::snprintf(mine.why.data(), mine.why.size(), "%s", trn_last_error(devices[0]));
    } catch (const std::exception& error) {
        std::snprintf(mine.why.data(), mine.why.size(), "%s", error.what());
    }
    return mine;
}

/// Runs elect() in a separate process.
class host {
public:
    host(const std::string& sockets, unsigned node) {
        EXPECT_EQ(pipe(ends_.data()), 0);
        pid_ = fork();
        if (pid_ != 0) {
            close(ends_[1]);
            return;
        }
        const auto mine = elect(sockets, node);
        const bool reported = write(ends_[1], &mine, sizeof mine) == sizeof mine;
        _exit(reported ? 0 : 1);
    }
    ~host() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        close(ends_[0]);
    }
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    outcome result() const {
        outcome found;
        EXPECT_EQ(read(ends_[0], &found, sizeof found), static_cast<ssize_t>(sizeof found));
        return found;
    }

private:
    std::array<int, 2> ends_{};
    pid_t pid_ = -1;
};

TEST(PodOfProcesses, ElectsTheNodeIdsOfFourHostsOverTheirSockets) {
    const scratch_folder scratch, sockets;
    background platform(
        {TRNVP_PROGRAM, "run", "trn2-ultraserver", "--listen", sockets.text(), "--uart", "none"},
        scratch / "log");
    ASSERT_TRUE(
        eventually([&] { return std::filesystem::exists(sockets / "server3.chip15.sock"); }));

    std::vector<std::unique_ptr<host>> hosts;
    for (unsigned node = 0; node < nodes; ++node)
        hosts.push_back(std::make_unique<host>(sockets.text(), node));
    std::array<outcome, nodes> found;
    for (unsigned node = 0; node < nodes; ++node) found[node] = hosts[node]->result();
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(found[node].status, TRN_OK) << found[node].why.data();
        EXPECT_EQ(found[node].pod.status, 3u);
        EXPECT_EQ(found[node].pod.nodes, 4u);
        EXPECT_EQ(found[node].pod.node, node);  // serial numbers increase from server to server
        EXPECT_EQ(found[node].pod.serial, found[0].serial);
    }
    EXPECT_TRUE(platform.running());
}

}  // namespace
}  // namespace trn::test
