// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/snapshots/snapshots.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "platform/app/scenario/runner.h"

namespace trn {
namespace {

using nlohmann::json;

struct reported {
    std::string text;
    int status = 0;
};

/// Runs `work` in a child process; returns its output and exit status.
reported in_a_process(const std::function<void(int out)>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        work(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    reported result;
    std::array<char, 256> bytes;
    for (ssize_t n; (n = read(ends[0], bytes.data(), bytes.size())) > 0;)
        result.text.append(bytes.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    waitpid(pid, &result.status, 0);
    return result;
}

void say(int out, const std::string& text) {
    if (write(out, text.data(), text.size()) < 0) _exit(9);
}

TEST(Snapshots, RestoredStateResumesWhereItWasSaved) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        int value = 1;
        const auto carry = states.keep("a");
        say(out, std::to_string(value) + (carry ? carry->state.dump() : " ") + ";");
        value = 2;
        if (!carry) states.restore("a", {{{"n", 7}}});
    });
    EXPECT_EQ(result.text, R"(1 ;1{"n":7};)");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, OlderStateCanRestoreALaterOne) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        std::string value = "-";
        const auto reported = [](const auto& carried) {
            return carried ? carried->state.template get<int>() : 0;
        };
        auto next = reported(states.keep("a"));
        if (next == 0) {
            value = "b";
            next = reported(states.keep("b"));
        }
        say(out, value + std::to_string(next) + ";");
        if (next < 4) states.restore(next % 2 == 0 ? "a" : "b", {next + 1});
        value = "changed";
    });
    EXPECT_EQ(result.text, "b0;-1;b2;-3;b4;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, LatestSnapshotOfANameIsRestored) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        for (int value = 0; value < 3; ++value) {
            const auto carry = states.keep("a");
            say(out, std::to_string(value) + (carry ? "!" : ";"));
            if (carry) return;
        }
        states.restore("a", {});
    });
    EXPECT_EQ(result.text, "0;1;2;2!");
}

TEST(Snapshots, NumberOfSnapshotsIsBounded) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        try {
            for (std::size_t n = 0; n <= snapshots::most; ++n)
                if (states.keep(std::to_string(n))) return say(out, ", and all work");
        } catch (const std::runtime_error& wrong) {
            say(out, wrong.what());
            states.restore("63", {});
        }
    });
    EXPECT_EQ(result.text, "there are 64 snapshots already, and all work");
}

TEST(Snapshots, FirstProcessExitsWithTheStatusOfTheLast) {
    const auto result = in_a_process([](int) {
        snapshots states;
        if (!states.keep("a")) states.restore("a", {});
        states.keep("b");
        std::signal(SIGTERM, SIG_DFL);
        std::raise(SIGTERM);
    });
    EXPECT_TRUE(WIFSIGNALED(result.status));
    EXPECT_EQ(WTERMSIG(result.status), SIGTERM);
}

TEST(Snapshots, HandoverStateMayBeLongAndHoldManyDescriptors) {
    constexpr std::size_t many = 600;
    const auto result = in_a_process([](int out) {
        snapshots states;
        const auto carried = states.keep("a");
        if (!carried) {
            snapshots::handover_state all{{{"text", std::string(3 << 20, '\xff')}}, {}};
            for (std::size_t n = 0; n < many; ++n) all.descriptors.push_back(dup(out));
            states.restore("a", all);
        }
        const std::string text = carried->state["text"];
        say(out, std::to_string(text.size()) + (text.back() == '\xff' ? " " : "?"));
        say(out, std::to_string(carried->descriptors.size()));
        say(carried->descriptors.back(), " written");
    });
    EXPECT_EQ(result.text, "3145728 600 written");
}

/// Number of processes in this process's group.
std::size_t group_size() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto pid = std::atoi(entry.path().filename().c_str());
        if (pid > 0 && getpgid(pid) == getpgrp()) ++count;
    }
    return count;
}

TEST(Snapshots, UnreachableStateExits) {
    const auto result = in_a_process([](int out) {
        setpgid(0, 0);
        snapshots states;
        const auto carried = states.keep("a");
        const int round = carried ? carried->state.get<int>() : 0;
        if (round < 20) {
            states.keep("b");  // replaces the snapshot of the previous round
            states.restore("a", {round + 1});
        }
        for (int tries = 0; tries < 60'000 && group_size() > 3; ++tries) usleep(5000);
        say(out, std::to_string(group_size()));
    });
    EXPECT_EQ(result.text, "3");  // two waiting processes, and this one
}

TEST(Snapshots, SigtermReachesTheActiveState) {
    const auto result = in_a_process([](int out) {
        static int reported;
        reported = out;
        const pid_t first = getpid();
        std::signal(SIGTERM, [](int) {
            say(reported, getpid() == getpgrp() ? "first" : "acting");
            _exit(5);
        });
        setpgid(0, 0);  // the group id is that of the first process
        snapshots states;
        if (!states.keep("a")) states.restore("a", {});
        if (!states.keep("b")) kill(first, SIGTERM);
        for (;;) pause();
    });
    EXPECT_EQ(result.text, "acting");
    EXPECT_EQ(WEXITSTATUS(result.status), 5);
}

TEST(Snapshots, SigtermDuringARestoreReachesTheNextActiveState) {
    const auto result = in_a_process([](int) {
        snapshots states;
        const pid_t first = getpid();
        std::signal(SIGTERM, [](int) { _exit(6); });
        if (!states.keep("a")) {
            std::signal(SIGTERM, SIG_IGN);  // like a process that is exiting
            kill(first, SIGTERM);
            states.restore("a", {});
        }
        for (;;) pause();
    });
    EXPECT_EQ(WEXITSTATUS(result.status), 6);
}

TEST(Snapshots, ForkCallbacksRunInBothProcesses) {
    const auto result = in_a_process([](int out) {
        snapshots states({.before = [=] { say(out, "b"); },
                          .in_original = [=] { say(out, "o"); },
                          .in_copy = [=] { say(out, "c"); },
                          .waits = [=] { say(out, "w"); }});
        if (!states.keep("a")) states.restore("a", {});
    });
    auto reported = result.text;  // from two concurrent processes
    std::ranges::sort(reported);
    EXPECT_EQ(reported, "bbccoow");
}

TEST(Snapshots, LimitsApplyToTheRestoredState) {
    std::vector<scenario::scenario> all(2);
    for (auto& one : all) {
        one.wall_limit_s = 1;
        one.memory_limit = 256ull << 20;
        one.steps.emplace_back();
    }
    all[0].beginning = "hang";
    all[1].beginning = "grow";
    all[1].wall_limit_s = 200;
    const auto results = scenario::run_all(
        all, {.jobs = 2},
        [&](scenario::group& alike) {
            const auto number = alike.branch({});
            snapshots states;
            alike.report().at(all[number].steps.front(), 0);
            if (!states.keep("a")) states.restore("a", {});
            alike.report().at(all[number].steps.front(), 0);
            if (number == 0) pause();
            for (std::vector<std::vector<char>> much;;) much.emplace_back(1 << 20, 'x');
        },
        [](std::size_t, const scenario::outcome&) {});
    EXPECT_EQ(results[0].result, scenario::outcome::verdict::timed_out);
    EXPECT_EQ(results[1].result, scenario::outcome::verdict::memory_exceeded);
}

}  // namespace
}  // namespace trn
