// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/terminal_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"

namespace {

TEST(TerminalText, KeepsTextAndLines) {
    const std::string text = "chip0:\t4 KiB \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\n";
    EXPECT_EQ(trn::terminal_text(text), text);
    EXPECT_EQ(trn::terminal_text(""), "");
}

TEST(TerminalText, EscapesWhatChangesATerminal) {
    for (const std::string control :
         {"\x1b",         "\r",
          "\x7f",         "\x07",
          "\xc2\x80",     "\xc2\x9b",
          "\xc2\x9f",  // C0, DEL, C1
          "\xd8\x9c",     "\xe2\x80\x8e",
          "\xe2\x80\x8f", "\xe2\x80\xaa",
          "\xe2\x80\xae", "\xe2\x81\xa6",
          "\xe2\x81\xa9",                  // marks of direction
          "\xe2\x80\xa8", "\xe2\x80\xa9",  // ends of lines and paragraphs
          "\x80",         "\xff",
          "\xc3",         "\xe2\x82",
          "\xf5\x80\x80", "\xe0\x82\x9b",
          "\xe0\x80\x9b", "\xf0\x80\x82\x9b",     // C1 and C0 in longer forms
          "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {  // no UTF-8
        const auto shown = trn::terminal_text("a" + control + "b");
        EXPECT_EQ(shown.find(control), std::string::npos) << shown;
        EXPECT_EQ(shown.substr(0, 3), "a\\x");
        EXPECT_EQ(shown.back(), 'b');
        EXPECT_EQ(trn::printable("a" + control + "b"), shown);
    }
}

TEST(TerminalText, JsonForATerminalIsAscii) {
    const auto line = trn::config::to_ascii({{"name", "a\x7f\xc2\x9b\xe2\x80\xae\xff"}});
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    EXPECT_EQ(nlohmann::json::parse(line)["name"], "a\x7f\xc2\x9b\xe2\x80\xae\xef\xbf\xbd");
}

}  // namespace
