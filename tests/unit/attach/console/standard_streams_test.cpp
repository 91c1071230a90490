// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>

#include "platform/framework/unique_fd.h"

namespace trn {
namespace {

constexpr int page = 4096;

/// Standard output and standard error of this process are one pipe of 4 KiB.
struct StandardStreams : testing::Test {
    StandardStreams() {
        std::fflush(stdout);
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
        EXPECT_EQ(fcntl(ends[1], F_SETPIPE_SZ, page), page);
        reader = unique_fd(ends[0]);
        writer = unique_fd(ends[1]);
        for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(writer.get(), stream);
    }
    ~StandardStreams() override {
        dup2(out.get(), STDOUT_FILENO);
        dup2(err.get(), STDERR_FILENO);
    }
    StandardStreams(const StandardStreams&) = delete;
    StandardStreams& operator=(const StandardStreams&) = delete;

    /// Reads `size` bytes; the streams write when the pipe has room.
    std::string read_all(std::size_t size) {
        std::string text;
        std::array<char, page> part{};
        while (text.size() < size) {
            const auto got = read(reader.get(), part.data(), part.size());
            if (got <= 0) break;
            text.append(part.data(), static_cast<std::size_t>(got));
            io.poll();
        }
        return text;
    }

    boost::asio::io_context io;
    unique_fd out{dup(STDOUT_FILENO)}, err{dup(STDERR_FILENO)};
    unique_fd reader, writer;
};

TEST_F(StandardStreams, TextForOneFileKeepsItsOrder) {
    std::string expected;
    standard_streams streams(io);
    for (int i = 0; i < 500; ++i) {
        const auto number = std::to_string(i);
        std::fprintf(stdout, "line %s of stdout\n", number.c_str());
        std::fflush(stdout);
        std::cerr << "line " << number << " of cerr\n";
        expected += "line " + number + " of stdout\nline " + number + " of cerr\n";
    }
    EXPECT_EQ(read_all(expected.size()), expected);
    EXPECT_EQ(streams.finish(standard_streams::grace), "");
}

TEST_F(StandardStreams, ManyKeptBytesCostLittle) {
    const std::size_t size = 128 << 20;
    standard_streams streams(io, size);
    const std::string text(size, 'x');
    std::fwrite(text.data(), 1, size, stdout);
    std::fflush(stdout);
    EXPECT_EQ(read_all(size), text);
    EXPECT_EQ(streams.finish(standard_streams::grace), "");
}

TEST_F(StandardStreams, AnotherProcessContinuesWithTheKeptText) {
    standard_streams streams(io);
    const std::string text(3 * page, 'x');
    std::fwrite(text.data(), 1, text.size(), stdout);
    const auto given = streams.give();
    EXPECT_EQ(streams.finish(std::nullopt), "");  // nothing is left
    streams.take(given);
    EXPECT_EQ(read_all(text.size()), text);
    EXPECT_EQ(streams.finish(standard_streams::grace), "");
}

TEST_F(StandardStreams, SignalsDoNotEndTheWaitForTheReader) {
    standard_streams streams(io);
    const std::string text(3 * page, 'x');
    const pid_t slow_reader = fork();
    if (slow_reader == 0) {
        usleep(300'000);
        std::array<char, page> part{};
        std::size_t size = 0;
        while (size < text.size()) {
            const auto got = read(reader.get(), part.data(), part.size());
            if (got <= 0) break;
            size += static_cast<std::size_t>(got);
        }
        _exit(size == text.size() ? 0 : 1);
    }
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before);
    itimerval often{{0, 50'000}, {0, 50'000}}, never{};
    setitimer(ITIMER_REAL, &often, nullptr);
    std::fwrite(text.data(), 1, text.size(), stdout);
    EXPECT_EQ(streams.finish(std::nullopt), "");
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    int status = -1;
    waitpid(slow_reader, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(StandardStreams, DroppedTextIsCountedOnce) {
    standard_streams streams(io, page);
    const std::string text(4 * page, 'x');
    std::fwrite(text.data(), 1, text.size(), stdout);
    const auto sentence = streams.finish(std::chrono::milliseconds(10));
    EXPECT_EQ(sentence,
              "12288 bytes of standard output and standard error were dropped: they were not read");
    EXPECT_EQ(streams.finish(std::chrono::milliseconds(10)), sentence);
}

}  // namespace
}  // namespace trn
