// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/kinds.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
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
    EXPECT_THAT(refusal_of(folder / "text.so"), HasSubstr("text.so"));
    EXPECT_EQ(refusal_of(folder / "none.so"), "No such file or directory");
    EXPECT_THAT(refusal_of(libraries / "libno_kinds.so"), HasSubstr("defines no kinds"));
    EXPECT_EQ(refusal_of(libraries / "libthrows.so"),
              "its kinds cannot be made: no licence for this block");
    EXPECT_THAT(refusal_of(libraries / "libother_abi.so"),
                AllOf(HasSubstr("built for 'trnvp-0.0.1'"), HasSubstr("build it again")));
    EXPECT_THAT(refusal_of(libraries / "libincomplete.so"),
                HasSubstr("its kind 'unfinished' is incomplete"));
    EXPECT_EQ(refusal_of(libraries / "libsecond_uart.so"), "there is another kind 'uart'");
    EXPECT_TRUE(loaded_kinds().empty());
}

}  // namespace
}  // namespace trn
