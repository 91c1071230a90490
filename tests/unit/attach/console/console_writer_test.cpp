// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/console_writer.h"

#include <gtest/gtest.h>

namespace trn {
namespace {

TEST(ConsoleWriter, OneConsoleIsPrintedUnchanged) {
    std::string shown;
    console_writer writer([&](std::string_view text) { shown += text; }, false);
    writer.write("uart", "# ");
    EXPECT_EQ(shown, "# ");
    writer.finish();
    EXPECT_EQ(shown, "# \n");
}

TEST(ConsoleWriter, LinesOfALogAreNotInsideLinesOfAConsole) {
    std::string shown;
    console_writer writer([&](std::string_view text) { shown += text; }, false, true);
    writer.write("uart", "door");
    shown += "a line of the log\n";
    writer.write("uart", "bell\r\nnext");
    EXPECT_EQ(shown, "a line of the log\ndoorbell\n");
    writer.finish();
    writer.finish();
    EXPECT_EQ(shown, "a line of the log\ndoorbell\nnext\n");
}

TEST(ConsoleWriter, SeveralConsolesHaveTheirNamesBeforeEachLine) {
    std::string shown;
    console_writer writer([&](std::string_view text) { shown += text; }, true);
    writer.write("a", "one ");
    writer.write("b", "two\n");
    writer.write("a", "more\n");
    EXPECT_EQ(shown, "[b] two\n[a] one more\n");
}

}  // namespace
}  // namespace trn
