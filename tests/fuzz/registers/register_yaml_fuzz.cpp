// SPDX-License-Identifier: Apache-2.0
// Arbitrary register descriptions are accepted, or refused with line numbers.
#include "platform/framework/registers/generator/emit.h"
#include "tests/support/fuzz_yaml.h"

namespace {

using namespace trn;

const std::vector<std::string> seeds{
    "a",
    std::string(1000, '['),
    std::string(500, '{') + "a" + std::string(500, '}'),
    "a: &x [*x]",
    "? a\n: b",
    "%YAML 1.2\n---\n!!map {a: b}\n...\n",
    "block: b\r\nsource: |\r\n  s\r\nsize: 4 KiB\r\nregisters: []\r\n",
    "{block: b, source: s, size: 0xffffffffffffffff, registers: [{name: A, array: "
    "{base: 1, dims: [{stride: 0xffffffff, count: 65536}, {stride: 4, count: 65536}]}}]}"};

const std::vector<std::string> words{"block: ",
                                     "size: ",
                                     "holes: ram\n",
                                     "access: rw1c\n",
                                     "- {name: X, offset: 0}\n",
                                     "array: {base: 0, stride: 4, count: 3}",
                                     "dims: [",
                                     "{stride: 4, count: 70000}",
                                     "fields: [{name: F, bits: \"31:0\"}]",
                                     "63:0",
                                     "0x"};

void generate(const std::string& text) {
    diagnostics problems;
    const auto document = config::document::parse(text, "x.regs.yaml", problems);
    const auto block = registers::read_block(document);
    problems.throw_if_any();
    registers::check_names(document, block);
    problems.throw_if_any();
    registers::emit_cpp(block);
    registers::emit_c(block);
    registers::emit_markdown(block);
}

}  // namespace

int main(int argc, char** argv) {
    return test::fuzz_yaml(
        argc, argv, {seeds, {"models", "tests/unit/registers"}, ".regs.yaml", words}, generate);
}
