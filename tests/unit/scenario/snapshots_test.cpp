// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/snapshots.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <vector>

#include "platform/scenario/runner.h"

namespace trn::scenario {
namespace {

struct told {
    std::string text;
    int status = 0;
};

/// What `work` prints, in a process of its own, and how that ended.
told in_a_process(const std::function<void(int out)>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        work(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    told result;
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

TEST(Snapshots, AStateGoesOnFromWhereItWasKept) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        int value = 1;
        const auto carry = states.keep("a");
        say(out, std::to_string(value) + (carry ? carry->dump() : " ") + ";");
        value = 2;
        if (!carry) states.restore("a", {{"n", 7}});
    });
    EXPECT_EQ(result.text, R"(1 ;1{"n":7};)");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, AnOlderStateKnowsTheYoungerOnes) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        std::string value = "-";
        auto next = states.keep("a").value_or(0).get<int>();
        if (next == 0) {
            value = "b";
            next = states.keep("b").value_or(0).get<int>();
        }
        say(out, value + std::to_string(next) + ";");
        if (next < 4) states.restore(next % 2 == 0 ? "a" : "b", next + 1);
        value = "changed";
    });
    EXPECT_EQ(result.text, "b0;-1;b2;-3;b4;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, TheYoungestOfOneNameCounts) {
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

TEST(Snapshots, ThereAreNotMoreThanTheyCanTellEachOther) {
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

TEST(Snapshots, WhoLooksAfterTheFirstProcessLearnsHowTheLastEnded) {
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

TEST(Snapshots, LimitsHoldForTheStateThatGoesOn) {
    std::vector<scenario> all(2);
    for (auto& one : all) {
        one.wall_limit_s = 0.5;
        one.memory_limit = 256ull << 20;
        one.steps.emplace_back();
    }
    all[0].beginning = "hang";
    all[1].beginning = "grow";
    all[1].wall_limit_s = 20;
    const auto results = run_all(
        all, {.jobs = 2},
        [&](group& alike) {
            const auto number = alike.branch({});
            snapshots states;
            alike.tell().at(all[number].steps.front(), 0);
            if (!states.keep("a")) states.restore("a", {});
            alike.tell().at(all[number].steps.front(), 0);
            if (number == 0) pause();
            for (std::vector<std::vector<char>> much;;) much.emplace_back(1 << 20, 'x');
        },
        [](std::size_t, const outcome&) {});
    EXPECT_EQ(results[0].what, outcome::verdict::timed_out);
    EXPECT_EQ(results[1].what, outcome::verdict::outgrew_it);
}

}  // namespace
}  // namespace trn::scenario
