// SPDX-License-Identifier: Apache-2.0
// The recorded driver on a whole chip with its firmware, started as a user starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/integration/vfio_user/replay.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

/// `trnvp run trn3-chip-sim --listen FOLDER` in another process.
class running_chip {
public:
    explicit running_chip(const test::scratch_folder& folder)
        : sockets_(folder / "sockets"), output_(folder / "output") {
        pid_ = fork();
        if (pid_ == 0) {
            if (freopen(output_.c_str(), "w", stdout) == nullptr || dup2(1, 2) < 0) _exit(126);
            execl(TRNVP_PROGRAM, "trnvp", "run", "trn3-chip-sim", "--listen", sockets_.c_str(),
                  nullptr);
            _exit(127);
        }
    }
    ~running_chip() { stop(); }

    /// Waits until a client can connect; empty when the program ended instead.
    std::string socket() const {
        const std::string path = sockets_ + "/chip0.sock";
        for (int tries = 0; tries < 30000 && waitpid(pid_, nullptr, WNOHANG) == 0; ++tries) {
            if (test::raw_peer(path).connected) return path;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return {};
    }
    void stop() {
        if (pid_ <= 0) return;
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    std::string output() const {
        std::ostringstream text;
        text << std::ifstream(output_).rdbuf();
        return text.str();
    }

private:
    std::string sockets_, output_;
    pid_t pid_ = 0;
};

TEST(RealChipTest, ServesTheProbeOfThePublicDriver) {
    const test::scratch_folder folder;
    running_chip chip(folder);
    const std::string socket = chip.socket();
    ASSERT_FALSE(socket.empty()) << chip.output();
    test::replay("neuron-2.26.5-trn3-rev255-zeroedBARs.trace.gz", socket, false);
    chip.stop();
    // No register that the driver uses is missing.
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-read-of-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-write-to-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-access-refused")));
}

}  // namespace
