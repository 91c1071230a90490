// SPDX-License-Identifier: Apache-2.0
// Every table of the project survives the way to SystemRDL and back.
#include "platform/framework/registers/exchange/exchange.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/framework/registers/generator/emit.h"

namespace {

using namespace trn;
using registers::block_spec;
using testing::HasSubstr;

block_spec read_yaml(const std::string& text, const std::string& name) {
    diagnostics problems;
    const auto document = config::document::parse(text, name, problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    registers::check_names(document, block);
    problems.throw_if_any();
    return block;
}

std::vector<block_spec> all_tables() {
    std::vector<block_spec> out;
    for (const auto* root : {"models", "tests", "doc/examples"})
        for (const auto& file : std::filesystem::recursive_directory_iterator(root))
            if (file.path().string().ends_with(".regs.yaml")) {
                std::ostringstream text;
                text << std::ifstream(file.path()).rdbuf();
                out.push_back(read_yaml(text.str(), file.path().string()));
            }
    return out;
}

/// Everything that is generated from a block.
std::string generated(const block_spec& block) {
    return registers::emit_cpp(block).text + registers::emit_c(block).text +
           registers::emit_page(block);
}

block_spec from_rdl(const std::string& text, std::vector<std::string>* left_out = nullptr) {
    const registers::foreign_text file{.name = "x.rdl", .text = text, .block = ""};
    const auto read = registers::read_rdl(file);
    if (left_out != nullptr) *left_out = read.left_out;
    return complete(read, file);
}

TEST(RegisterExchange, EveryTableComesBackFromSystemRdl) {
    const auto tables = all_tables();
    EXPECT_GT(tables.size(), 40u);
    for (const auto& table : tables) {
        std::vector<std::string> left_out;
        const auto rdl = write_rdl(table, "x");
        const auto back = from_rdl(rdl, &left_out);
        EXPECT_EQ(generated(back), generated(table));
        EXPECT_THAT(left_out, testing::IsEmpty()) << table.block;
        EXPECT_EQ(write_rdl(back, "x"), rdl);
        const auto yaml = read_yaml(write_yaml(back, "x").text, table.block + ".regs.yaml");
        EXPECT_EQ(generated(yaml), generated(table));
        EXPECT_EQ(write_rdl(yaml, "x"), rdl);
    }
}

}  // namespace
