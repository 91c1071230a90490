// SPDX-License-Identifier: Apache-2.0
// Arbitrary register descriptions: each is accepted or refused with line numbers.
#include "platform/framework/registers/generator/emit.h"
#include "tests/support/fuzz.h"

namespace {

using namespace trn;

std::vector<std::string> seeds() {
    std::vector<std::string> list{
        "",
        "{}",
        "[]",
        "a",
        std::string(1000, '['),
        std::string(500, '{') + "a" + std::string(500, '}'),
        "a: &x [*x]",
        "? a\n: b",
        "%YAML 1.2\n---\n!!map {a: b}\n...\n",
        "block: b\r\nsource: |\r\n  s\r\nsize: 4 KiB\r\nregisters: []\r\n",
        "{block: b, source: s, size: 0xffffffffffffffff, registers: [{name: A, array: "
        "{base: 1, dims: [{stride: 0xffffffff, count: 65536}, {stride: 4, count: 65536}]}}]}",
    };
    for (auto& text : test::file_texts({"models", "tests/unit/registers"}, ".regs.yaml"))
        list.push_back(std::move(text));
    return list;
}

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
                                     "0x",
                                     "0xffffffffffffffff",
                                     "-1",
                                     "1e9",
                                     "4 GiB",
                                     "&a",
                                     "*a",
                                     "!!int ",
                                     "\n",
                                     "  ",
                                     ": ",
                                     "- ",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     "\"",
                                     "'",
                                     "|\n",
                                     "#",
                                     "\t",
                                     "\xff\xfe",
                                     "\xc3"};

void read(const std::string& text) {
    diagnostics problems;
    try {
        const auto document = config::document::parse(text, "x.regs.yaml", problems);
        const auto block = registers::read_block(document);
        problems.throw_if_any();
        registers::emit_cpp(block);
        registers::emit_c(block);
        registers::emit_markdown(block);
    } catch (const config_error& error) {
        if (error.list().empty() || std::string_view(error.what()).empty()) std::abort();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const test::mutator inputs(seeds(), words);
    return test::fuzz(argc, argv, [&](test::fuzz_random& random) { read(inputs.make(random)); });
}
