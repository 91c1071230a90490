// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/snapshots/snapshots.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/app/scenario/run/runner.h"

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
        try {
            work(ends[1]);
        } catch (const std::exception& wrong) {
            std::fprintf(stderr, "%s\n", wrong.what());
            _exit(7);
        }
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

[[noreturn]] void restore(const snapshots& states, std::string_view name, const json& state = {},
                          const std::vector<int>& descriptors = {}) {
    states.restore(states.prepare(name, descriptors), state);
}

TEST(Snapshots, RestoredStateResumesWhereItWasSaved) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        int value = 1;
        const auto carry = states.keep("a");
        say(out, std::to_string(value) + (carry ? carry->state.dump() : " ") + ";");
        value = 2;
        if (!carry) restore(states, "a", {{"n", 7}});
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
        if (next < 4) restore(states, next % 2 == 0 ? "a" : "b", next + 1);
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
        restore(states, "a");
    });
    EXPECT_EQ(result.text, "0;1;2;2!");
}

TEST(Snapshots, NumberOfSnapshotsIsBounded) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        try {
            for (std::size_t n = 0; n <= snapshots::max_snapshots; ++n)
                if (states.keep(std::to_string(n))) return say(out, ", and all work");
        } catch (const std::runtime_error& wrong) {
            say(out, wrong.what());
            restore(states, "63");
        }
    });
    EXPECT_EQ(result.text, "there are 64 snapshots already, and all work");
}

TEST(Snapshots, FirstProcessExitsWithTheStatusOfTheLast) {
    const auto result = in_a_process([](int) {
        snapshots states;
        if (!states.keep("a")) restore(states, "a");
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
            std::vector<int> all;
            for (std::size_t n = 0; n < many; ++n) all.push_back(dup(out));
            restore(states, "a", {{"text", std::string(3 << 20, '\xff')}}, all);
        }
        const std::string text = carried->state["text"];
        say(out, std::to_string(text.size()) + (text.back() == '\xff' ? " " : "?"));
        say(out, std::to_string(carried->descriptors.size()));
        say(carried->descriptors.back(), " written");
    });
    EXPECT_EQ(result.text, "3145728 600 written");
}

/// A process without privileges, for which limits of processes hold.
void give_up_privileges() {
    if (geteuid() != 0) return;
    constexpr uid_t unprivileged = 65534;
    if (setresuid(unprivileged, unprivileged, unprivileged) != 0) _exit(8);
}

void limit(pid_t of, __rlimit_resource what, rlim_t value) {
    rlimit now{};
    if (prlimit(of, what, nullptr, &now) != 0) _exit(8);
    now.rlim_cur = std::min(value, now.rlim_max);
    if (prlimit(of, what, &now, nullptr) != 0) _exit(8);
}

/// The message of the error with which `call` fails.
std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::system_error& why) {
        return std::string(why.what()) + ";";
    }
    return "nothing;";
}

TEST(Snapshots, SaveWithoutAProcessLeavesTheStateAndItsSnapshots) {
    const auto result = in_a_process([](int out) {
        give_up_privileges();
        snapshots states;
        if (states.keep("a")) return say(out, "a;");
        limit(getpid(), RLIMIT_NPROC, 1);
        for (const std::string name : {"a", "b"}) say(out, refusal([&] { states.keep(name); }));
        say(out, std::to_string(states.all().size()) + ";");
        limit(getpid(), RLIMIT_NPROC, RLIM_INFINITY);
        restore(states, "a");
    });
    EXPECT_EQ(result.text,
              "fork: Resource temporarily unavailable;fork: Resource temporarily unavailable;1;a;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, RestoreWithoutAProcessLeavesTheStateAndItsSnapshots) {
    const auto result = in_a_process([](int out) {
        give_up_privileges();
        snapshots states;
        const pid_t first = getpid();
        if (states.keep("a")) return say(out, "a;");
        limit(first, RLIMIT_NPROC, 1);
        for (int times = 0; times < 2; ++times) say(out, refusal([&] { states.prepare("a"); }));
        limit(first, RLIMIT_NPROC, RLIM_INFINITY);
        restore(states, "a");
    });
    const std::string refused = "cannot copy the process: Resource temporarily unavailable;";
    EXPECT_EQ(result.text, refused + refused + "a;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, RestoreWithoutADescriptorLeavesTheStateAndItsSnapshots) {
    const auto result = in_a_process([](int out) {
        snapshots states;
        const pid_t first = getpid();
        if (states.keep("a")) return say(out, "a;");
        std::vector<int> many;
        for (int n = 0; n < 300; ++n) many.push_back(dup(out));
        // None for the channel, one for it and for some of the others, and all but one.
        for (const rlim_t few : {3, 40, 304}) {
            limit(first, RLIMIT_NOFILE, few);
            say(out, refusal([&] { states.prepare("a", many); }));
        }
        limit(first, RLIMIT_NOFILE, 1000);
        limit(getpid(), RLIMIT_NOFILE, 3);
        say(out, refusal([&] { states.prepare("a", many); }));
        limit(getpid(), RLIMIT_NOFILE, 1000);
        restore(states, "a", {}, many);
    });
    const std::string few = "cannot copy the process: Too many open files;";
    EXPECT_EQ(result.text, "there is no copy: No such process;" + few + few +
                               "socketpair: Too many open files;a;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, SaveWithoutADescriptorLeavesTheStateAndItsSnapshots) {
    const auto result = in_a_process([](int out) {
        bool refuses = false;
        snapshots states({.in_copy = [&] {
            if (refuses) throw std::system_error(EMFILE, std::generic_category());
        }});
        if (states.keep("a")) return say(out, "a;");
        limit(getpid(), RLIMIT_NOFILE, 64);
        std::vector<int> many;
        for (int one; (one = dup(out)) >= 0;) many.push_back(one);
        for (int unused = 0; unused < 4; ++unused) {  // none for the channel, nor for signals
            refuses = unused == 3;
            for (int times = 0; times < 2; ++times) say(out, refusal([&] { states.keep("b"); }));
            close(many.back());
            many.pop_back();
        }
        say(out, states.has("b") ? "b" : "");
        refuses = false;
        restore(states, "a");
    });
    const auto twice = [](const std::string& text) { return text + text; };
    EXPECT_EQ(result.text, twice(twice("socketpair: Too many open files;")) +
                               twice("signalfd: Too many open files;") +
                               twice("cannot copy the process: Too many open files;") + "a;");
    EXPECT_EQ(result.status, 0);
}

TEST(Snapshots, CopyKilledBeforeItContinuesLeavesTheStateAndItsSnapshots) {
    const auto result = in_a_process([](int out) {
        int ids[2];
        if (pipe(ids) != 0) _exit(8);
        snapshots states({.in_copy = [&] {
            const pid_t own = getpid();
            if (write(ids[1], &own, sizeof own) != sizeof own) _exit(8);
        }});
        const auto newest = [&] {
            pid_t id = 0;
            if (read(ids[0], &id, sizeof id) != sizeof id) _exit(8);
            return id;
        };
        if (states.keep("a")) return say(out, "a;");
        newest();
        for (int times = 0; times < 2; ++times) {
            auto next = states.prepare("a");
            kill(newest(), SIGKILL);
            say(out, refusal([&] {
                    states.restore(std::move(next), {{"text", std::string(9 << 20, 'x')}});
                }));
        }
        { const auto unwanted = states.prepare("a"); }
        restore(states, "a");
    });
    EXPECT_EQ(result.text,
              "the copy cannot continue: Broken pipe;the copy cannot continue: Broken pipe;a;");
    EXPECT_EQ(result.status, 0);
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
            restore(states, "a", round + 1);
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
        if (!states.keep("a")) restore(states, "a");
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
            restore(states, "a");
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
        if (!states.keep("a")) restore(states, "a");
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
            alike.report().begin(all[number].steps.front(), 0);
            if (!states.keep("a")) restore(states, "a");
            alike.report().begin(all[number].steps.front(), 0);
            if (number == 0) pause();
            for (std::vector<std::vector<char>> much;;) much.emplace_back(1 << 20, 'x');
        },
        [](std::size_t, const scenario::outcome&) {});
    EXPECT_EQ(results[0].result, scenario::outcome::verdict::timed_out);
    EXPECT_EQ(results[1].result, scenario::outcome::verdict::memory_exceeded);
}

}  // namespace
}  // namespace trn
