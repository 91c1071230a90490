// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace trn::test {

/// `trnvp run BOARD --listen FOLDER` in another process; with `--record RECORDING` if that is not
/// empty.
class running_board {
public:
    running_board(const char* board, const scratch_folder& folder,
                  const std::string& recording = {})
        : sockets_(folder / "sockets"), output_(folder / "output") {
        pid_ = fork();
        if (pid_ == 0) {
            if (freopen(output_.c_str(), "w", stdout) == nullptr || dup2(1, 2) < 0) _exit(126);
            execl(TRNVP_PROGRAM, "trnvp", "run", board, "--listen", sockets_.c_str(),
                  recording.empty() ? nullptr : "--record", recording.c_str(), nullptr);
            _exit(127);
        }
    }
    ~running_board() { stop(); }

    /// Waits until the function's socket accepts clients and returns its path; empty if the program
    /// has ended.
    std::string socket(const std::string& function) const {
        const std::string path = sockets_ + "/" + function + ".sock";
        for (int tries = 0; tries < 30000 && waitpid(pid_, nullptr, WNOHANG) == 0; ++tries) {
            if (raw_peer(path).connected) return path;
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

}  // namespace trn::test
