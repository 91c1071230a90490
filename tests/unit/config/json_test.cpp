// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace {

using trn::config::max_json_depth;
using trn::config::parse_json;

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t n = 0; n < depth; ++n) text += open;
    text += "1";
    for (std::size_t n = 0; n < depth; ++n) text += close;
    return text;
}

TEST(JsonTest, NestingBeyondTheLimitIsRefused) {
    EXPECT_EQ(parse_json(R"({"a": [1, {"b": null}]})")["a"][1]["b"], nullptr);
    for (const auto& [open, close] : {std::pair{"[", "]"}, {"{\"a\":", "}"}, {"[1,[", "]]"}}) {
        const std::size_t each = std::string(open).find_last_of("[{") == 0 ? 1 : 2;
        const auto most = static_cast<std::size_t>(max_json_depth) / each;
        EXPECT_FALSE(parse_json(nested(most, open, close)).is_discarded()) << open;
        EXPECT_TRUE(parse_json(nested(most + 1, open, close)).is_discarded()) << open;
        const auto deep = parse_json(nested(1'000'000, open, close));
        EXPECT_TRUE(deep.is_discarded()) << open;
        // Copying it must not overflow the stack.
        EXPECT_TRUE(nlohmann::json(deep).is_discarded()) << open;
    }
    EXPECT_FALSE(parse_json("[[],[],[],{}]").is_discarded());
}

TEST(JsonTest, InvalidJsonIsDiscarded) {
    for (const std::string text :
         {"", "[", "{\"a\":", "nonsense", "1e999999", "\"\xff\"", "[1]]", "{\"a\" 1}"})
        EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(parse_json(std::string(1 << 20, '9')).is_discarded());
    EXPECT_EQ(parse_json("[18446744073709551615]")[0], 18446744073709551615u);
}

}  // namespace
