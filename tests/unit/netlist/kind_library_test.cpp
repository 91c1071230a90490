// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <systemc>

#include "models/kinds.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/sanitized.h"
#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path libraries = KIND_LIBRARIES;

std::string refusal_of(const std::filesystem::path& library) {
    return load_kinds(library, kinds()).value_or("");
}

plan plan_of(const std::string& text) {
    return plan_text("board: b\n" + text, "b.yaml", kinds(), {boards_folder(), {}, {}});
}

std::string mistakes_of(const std::string& text) {
    try {
        plan_of(text);
    } catch (const config_error& wrong) {
        return wrong.what();
    }
    return "";
}

TEST(KindLibrary, AddsItsKindsOnce) {
    EXPECT_EQ(find_kind(kinds(), "mirror"), nullptr);
    EXPECT_EQ(refusal_of(libraries / "libmirror.so"), "");
    EXPECT_EQ(refusal_of(libraries / "." / "libmirror.so"), "");
    ASSERT_NE(find_kind(kinds(), "mirror"), nullptr);
    EXPECT_EQ(loaded_kinds().size(), 1u);
    const auto made = plan_of("modules:\n  m: {type: mirror, is_round: true}\n");
    EXPECT_EQ(made.modules.at(0).built_as, loaded_kinds()[0]);
}

TEST(KindLibrary, CanBeNamedByABoard) {
    const auto text = "kinds: [" + (libraries / "libmirror.so").string() + "]\nmodules:\n";
    EXPECT_EQ(plan_of(text + "  m: {type: mirror}\n").modules.size(), 1u);
    EXPECT_THAT(mistakes_of(text + "  m: {type: miror}\n"),
                AllOf(HasSubstr("b.yaml:4:13"), HasSubstr("no kind 'miror'"), HasSubstr("mirror")));
    EXPECT_THAT(mistakes_of(text + "  m: {type: mirror, is_round: 3}\n"), HasSubstr("b.yaml:4:31"));
}

TEST(KindLibrary, BoardNamesThePlaceOfALibraryThatIsRefused) {
    EXPECT_THAT(mistakes_of("kinds: [none.so]\nmodules:\n  m: {type: mirror}\n"),
                AllOf(StartsWith("b.yaml:2:9"), HasSubstr("no kinds from 'none.so'"),
                      Not(HasSubstr("no kind 'mirror'"))));
}

TEST(KindLibrary, IsRefusedWithOneReason) {
    const test::scratch_folder folder;
    std::ofstream(folder / "text.so") << "text";
    EXPECT_EQ(refusal_of(folder / "text.so"), "it is no shared library");
    EXPECT_EQ(refusal_of(folder / "none.so"), "No such file or directory");
    EXPECT_EQ(refusal_of("/proc/self/exe"), "it defines no kinds (TRNVP_KINDS)");
    EXPECT_THAT(refusal_of(libraries / "libno_kinds.so"), HasSubstr("defines no kinds"));
    EXPECT_EQ(refusal_of(libraries / "libthrows.so"),
              "its kinds cannot be made: no licence for this block");
    EXPECT_THAT(refusal_of(libraries / "libother_abi.so"),
                AllOf(HasSubstr("built for 'trnvp-0.0.1'"), HasSubstr("build it again")));
    EXPECT_THAT(refusal_of(libraries / "libincomplete.so"),
                HasSubstr("its kind 'unfinished' is incomplete"));
    EXPECT_EQ(refusal_of(libraries / "libsecond_uart.so"), "there is another kind 'uart'");
    EXPECT_EQ(refusal_of(libraries / "libtwins.so"), "there is another kind 'twin'");
    EXPECT_EQ(refusal_of(libraries / "liblacks.so"),
              "it uses 'example::made_elsewhere(int)', which neither it nor this program has");
    EXPECT_EQ(refusal_of(libraries / "libreports.so"),
              "its kinds cannot be made: block: no licence for this block");
    EXPECT_EQ(refusal_of(libraries / "libthrows_early.so"),
              "it fails while it is loaded: no licence for this block");
    EXPECT_EQ(refusal_of(libraries / "libhas_a_path.so"),
              "its kind 'chips/trainium3' has no name of letters, digits and _");
    EXPECT_TRUE(loaded_kinds().empty());
}

TEST(KindLibrary, IsNoFolderPipeOrHugeFile) {
    const test::scratch_folder folder;
    EXPECT_EQ(refusal_of(folder / "."), "it is a folder");
    ASSERT_EQ(mkfifo((folder / "pipe.so").c_str(), 0600), 0);
    EXPECT_EQ(refusal_of(folder / "pipe.so"), "it is no regular file");
    EXPECT_EQ(refusal_of("/dev/zero"), "it is no regular file");
    std::ofstream(folder / "huge.so") << "\x7f"
                                         "ELF";
    std::filesystem::resize_file(folder / "huge.so", std::uintmax_t{1} << 40);
    EXPECT_EQ(refusal_of(folder / "huge.so"), "it is no shared library");
    std::filesystem::create_symlink("loop.so", folder / "loop.so");
    EXPECT_EQ(refusal_of(folder / "loop.so"), "Too many levels of symbolic links");
}

TEST(KindLibrary, OfAnotherProcessorIsRefused) {
    const test::scratch_folder folder;
    std::filesystem::copy_file(libraries / "libmirror.so", folder / "other.so");
    std::fstream(folder / "other.so", std::ios::in | std::ios::out | std::ios::binary)
        .seekp(18)
        .put('\xf3');  // RISC-V
    EXPECT_EQ(refusal_of(folder / "other.so"), "it is built for another processor");
}

TEST(KindLibrary, CutOffAnywhereIsRefused) {
    const test::scratch_folder folder;
    const std::filesystem::path whole = libraries / "libmirror.so", part = folder / "part.so";
    std::filesystem::copy_file(whole, part);
    const auto size = std::filesystem::file_size(whole);
    for (auto length = size - 1; length > 0; length /= 2) {
        std::filesystem::resize_file(part, length);
        EXPECT_NE(refusal_of(part), "") << length;
    }
    EXPECT_TRUE(loaded_kinds().empty());
}

TEST(KindLibrary, TableThatIsNotThatOfItsClassIsAnErrorAtItsPlace) {
    try {
        const system built(plan_of("kinds: [" + (libraries / "libhostile.so").string() +
                                   "]\nmodules:\n  m: {type: misnamed}\n  bus: {type: router}\n"
                                   "  cpu: {type: riscv_hart}\nbind:\n  - cpu.bus -> bus.target\n"
                                   "  - bus.initiator -> m.registers @ 0x0 + 4 KiB\n"));
        FAIL() << "is built";
    } catch (const config_error& wrong) {
        EXPECT_THAT(wrong.what(),
                    AllOf(StartsWith("b.yaml:4:3: E54"),
                          HasSubstr("no socket, line or plug with the name 'registers'")));
    }
}

TEST(KindLibrary, MayHaveAStrangePath) {
    const test::scratch_folder folder;
    const std::filesystem::path strange = folder / "a b'\"$5;%s\n\x1b[31m \xff";
    std::filesystem::create_directory(strange);
    std::filesystem::copy_file(libraries / "libmirror.so", strange / "mirror.so");
    EXPECT_EQ(refusal_of(strange / "mirror.so"), "");
    EXPECT_NE(find_kind(kinds(), "mirror"), nullptr);
}

TEST(KindLibrary, MayBeReplacedWhileItsKindsAreUsed) {
    const test::scratch_folder folder;
    const std::filesystem::path used = folder / "used.so", next = folder / "next.so";
    std::filesystem::copy_file(libraries / "libmirror.so", used);
    ASSERT_EQ(refusal_of(used), "");
    std::filesystem::copy_file(libraries / "libhostile.so", next);
    std::filesystem::rename(next, used);
    EXPECT_EQ(plan_of("modules:\n  m: {type: mirror, is_round: true}\n").modules.size(), 1u);
    EXPECT_EQ(refusal_of(used), "");  // is loaded already
    EXPECT_EQ(find_kind(kinds(), "hostile"), nullptr);
}

/// A board with a module that fails.
struct HostileBlock : testing::Test {
    HostileBlock() { EXPECT_EQ(refusal_of(libraries / "libhostile.so"), ""); }

    static std::string refusal(const std::string& at, const std::string& does) {
        try {
            const system built(planned(at, does));
        } catch (const config_error& wrong) {
            return wrong.list().at(0).message;
        }
        return "";
    }
    /// For a process of its own.
    static void run(const std::string& at, const std::string& does) {
        const system built(planned(at, does));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        std::exit(0);
    }
    static plan planned(const std::string& at, const std::string& does) {
        return plan_of("modules:\n  m: {type: hostile, at: " + at + ", does: " + does + "}\n");
    }
};

TEST_F(HostileBlock, ExceptionOfAConstructorIsAnErrorAtItsPlace) {
    EXPECT_EQ(refusal("made", "throws"), "hostile 'm': its table is empty");
}
TEST_F(HostileBlock, NumberThrownByAConstructorIsAnErrorAtItsPlace) {
    EXPECT_EQ(refusal("made", "throws_a_number"),
              "hostile 'm': its constructor throws an object of an unknown type");
}
TEST_F(HostileBlock, ReportOfAConstructorIsAnErrorAtItsPlace) {
    EXPECT_EQ(refusal("made", "reports"), "hostile 'm': hostile: its clock has stopped");
}
TEST_F(HostileBlock, ReportDuringElaborationIsAnErrorOfTheBoard) {
    system built(planned("elaborated", "reports"));
    try {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        FAIL() << "is elaborated";
    } catch (const sc_core::sc_report& why) {
        try {
            built.refuse(why);
        } catch (const config_error& wrong) {
            EXPECT_EQ(
                wrong.list().at(0).message,
                "a module fails when the board is elaborated: hostile: its clock has stopped");
        }
    }
}
TEST_F(HostileBlock, ReportOfAProcessStaysOne) {
    system built(planned("running", "reports"));
    try {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        FAIL() << "runs";
    } catch (const sc_core::sc_report& why) {
        EXPECT_THROW(built.refuse(why), sc_core::sc_report);
    }
}
TEST_F(HostileBlock, MemoryThatItCannotGetIsAnErrorAtItsPlace) {
    if (sanitized) GTEST_SKIP() << "a sanitizer needs address space without a limit";
    const rlimit limit{std::size_t{2} << 30, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_THAT(refusal("made", "allocates"), HasSubstr("not enough memory"));
}
TEST_F(HostileBlock, CrashNamesLibraryAndProcess) {
    if (sanitized) GTEST_SKIP() << "a sanitizer reports crashes itself";
    EXPECT_EXIT(
        run("made", "crashes"), testing::KilledBySignal(SIGSEGV),
        "^trnvp: libhostile.so crashes \\(SIGSEGV\\); addr2line -Cfie '/.*' 0x[0-9a-f]+\n$");
    EXPECT_EXIT(run("running", "crashes"), testing::KilledBySignal(SIGSEGV),
                "libhostile.so crashes \\(SIGSEGV\\), process m.run; addr2line");
}
TEST_F(HostileBlock, ExitNamesLibraryAndIsAFailure) {
    if (sanitized) GTEST_SKIP() << "handlers are not installed";
    EXPECT_EXIT(run("running", "exits"), testing::ExitedWithCode(1),
                "^trnvp: libhostile.so ends the program by exit\\(\\), process m.run; addr2line");
    EXPECT_EXIT(run("never", "exits"), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace trn
