// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "platform/framework/process/child_process.h"
#include "platform/framework/process/private_file.h"
#include "platform/framework/process/run_command.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/unique_fd.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

child_process shell(const std::string& script, int output = -1) {
    return child_process::spawn({"sh", "-c", script}, {.output = output});
}

std::string text_of(const unique_fd& file) {
    std::string text(64, '\0');
    const auto count = pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

bool exists(pid_t pid) {
    return kill(pid, 0) == 0;
}

TEST(ChildProcess, ReportsStatusOrSignal) {
    auto exits = shell("exit 7"), dies = shell("kill -SEGV $$");
    EXPECT_EQ(exits.wait().status, 7);
    EXPECT_EQ(exits.wait().shell_status(), 7) << "asked again";
    EXPECT_EQ(dies.wait().signal, SIGSEGV);
    EXPECT_EQ(dies.wait().shell_status(), 128 + SIGSEGV);
}

TEST(ChildProcess, OutputAndErrorsGoWhereTheyAreSent) {
    const unique_fd file(memfd_create("output", MFD_CLOEXEC));
    shell("echo one; echo two >&2", file.get()).wait();
    EXPECT_EQ(text_of(file), "one\ntwo\n");
}

TEST(ChildProcess, ProgramsGetOnlyStandardStreams) {
    const unique_fd kept(open("/dev/null", O_RDONLY));  // not closed on exec
    ASSERT_GT(kept.get(), STDERR_FILENO);
    const auto opened = "test -e /proc/$$/fd/" + std::to_string(kept.get());
    EXPECT_EQ(shell(opened).wait().status, 1);
    EXPECT_EQ(child_process::start_bound({"sh", "-c", opened}, {}).wait().status, 1);
}

TEST(ChildProcess, AProgramThatDoesNotExistIsAnError) {
    EXPECT_THROW(child_process::spawn({"/does/not/exist"}, {}), std::system_error);
    const unique_fd file(memfd_create("output", MFD_CLOEXEC));
    EXPECT_EQ(child_process::start_bound({"/does/not/exist"}, {.output = file.get()}).wait().status,
              126);
    EXPECT_EQ(text_of(file).substr(0, 35), "trnvp: cannot start /does/not/exist");
}

TEST(ChildProcess, EndsByForceAfterItsGrace) {
    const unique_fd file(memfd_create("output", MFD_CLOEXEC));
    auto stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done", file.get());
    EXPECT_FALSE(stubborn.poll());
    EXPECT_FALSE(stubborn.wait_for(1ms));
    while (text_of(file).empty()) usleep(1000);
    stubborn.end(20ms);
    EXPECT_EQ(stubborn.wait().signal, SIGKILL);

    auto willing = child_process::spawn({"sleep", "1000"}, {});
    willing.end(60s);
    EXPECT_EQ(willing.wait().signal, SIGTERM);
}

TEST(ChildProcess, IsKilledWithItsOwner) {
    pid_t pid = -1;
    {
        const auto sleeper = child_process::spawn({"sleep", "1000"}, {});
        pid = sleeper.pid();
        EXPECT_TRUE(exists(pid));
    }
    EXPECT_FALSE(exists(pid));
}

mode_t mode_of(const std::string& path) {
    struct stat about {};
    return lstat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

TEST(RunCommand, HasOutputErrorsAndStatus) {
    const auto fails = run_command({"sh", "-c", "echo one; echo two >&2; exit 3"});
    EXPECT_EQ(fails.output, "one\ntwo\n");
    EXPECT_EQ(fails.status, 3);
    EXPECT_EQ(run_command({"sh", "-c", "kill -SEGV $$"}).status, 128 + SIGSEGV);
    const auto missing = run_command({"/there/is/no/program"});
    EXPECT_EQ(missing.status, 126);
    EXPECT_NE(missing.output.find("cannot start /there/is/no/program"), std::string::npos);
}

TEST(RunCommand, ReadsAProgramToItsEndAndKeepsABoundedOutput) {
    const auto longer = std::to_string(max_command_output + 100'000);
    const auto ended =
        run_command({"sh", "-c", "head -c " + longer + " /dev/zero && echo end && exit 5"});
    EXPECT_EQ(ended.output.size(), max_command_output);
    EXPECT_EQ(ended.status, 5);
}

TEST(PrivateFile, OnlyItsUserCanOpenItWhateverTheUmaskIs) {
    const test::scratch_folder folder;
    const mode_t before = umask(0);
    make_private_folder(folder / "new/deep/");
    write_private_file(folder / "new/file", "text");
    child_process::start_bound({"mkdir", folder / "made"}, {.private_files = true}).wait();
    umask(before);
    EXPECT_EQ(mode_of(folder / "new"), 0700u);
    EXPECT_EQ(mode_of(folder / "new/deep"), 0700u);
    EXPECT_EQ(mode_of(folder / "new/file"), 0600u);
    EXPECT_EQ(mode_of(folder / "made"), 0700u);
}

TEST(PrivateFile, ReplacesALinkAndNotWhatItNames) {
    const test::scratch_folder folder;
    write_private_file(folder / "users", "mine");
    std::filesystem::create_symlink(folder / "users", folder / "initramfs");
    write_private_file(folder / "initramfs", "theirs");
    const auto text_of_file = [](const std::string& path) {
        std::string text;
        std::ifstream(path) >> text;
        return text;
    };
    EXPECT_EQ(text_of_file(folder / "users"), "mine");
    EXPECT_EQ(text_of_file(folder / "initramfs"), "theirs");
}

TEST(TemporaryFolder, EndsWithItsFilesAndItsGroup) {
    fs::path path;
    std::optional<child_process> member;
    {
        const temporary_folder folder("trnvp-test");
        path = folder.path();
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        std::ofstream(path / "file") << "text";
        member.emplace(child_process::spawn({"sleep", "1000"}, {}, folder.group()));
    }
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(member->wait().signal, SIGKILL);
}

TEST(TemporaryFolder, EndsWithAProcessThatIsKilled) {
    const unique_fd file(memfd_create("path", MFD_CLOEXEC));
    const pid_t pid = fork();
    if (pid == 0) {
        const temporary_folder folder("trnvp-test");
        const auto path = folder.path().string();
        if (write(file.get(), path.data(), path.size()) > 0) raise(SIGKILL);
        _exit(1);
    }
    EXPECT_EQ(child_process(pid).wait().signal, SIGKILL);
    const fs::path path = text_of(file);
    ASSERT_FALSE(path.empty());
    for (int i = 0; i < 1000 && fs::exists(path); ++i) usleep(10'000);
    EXPECT_FALSE(fs::exists(path));
}

}  // namespace
