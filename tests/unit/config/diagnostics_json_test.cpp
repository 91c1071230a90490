// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/diagnostics_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using namespace trn;
using nlohmann::json;

TEST(DiagnosticsJson, HasTheMembersThatTheErrorHas) {
    diagnostic mistaken{mistake::out_of_range, "x.trn",           3, 8,
                        "expected 0 to 255",   "wait S[256] nop", 1, "fewer"};
    mistaken.origin_file = "kernel.py";
    mistaken.origin_line = 12;
    EXPECT_EQ(json::parse(to_json_line(mistaken)),
              json({{"code", "E22"},
                    {"file", "x.trn"},
                    {"line", 3},
                    {"column", 8},
                    {"length", 1},
                    {"message", "expected 0 to 255"},
                    {"excerpt", "wait S[256] nop"},
                    {"suggestion", "fewer"},
                    {"origin", {{"file", "kernel.py"}, {"line", 12}}}}));
    diagnostic whole;
    whole.file = "x.trn";
    whole.message = "cannot \xff";
    EXPECT_EQ(to_json_line(whole), "{\"file\":\"x.trn\",\"message\":\"cannot \\ufffd\"}\n");
}

}  // namespace
