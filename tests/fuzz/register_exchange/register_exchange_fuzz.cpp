// SPDX-License-Identifier: Apache-2.0
// Arbitrary SystemRDL and IP-XACT is accepted, or refused with a place. What is accepted comes back
// the same.
#include <iostream>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/generator/emit.h"
#include "tests/support/fuzz.h"

namespace {

using namespace trn;
using registers::block_spec;

block_spec read_yaml(const std::string& text) {
    diagnostics problems;
    const auto document = config::document::parse(text, "x.regs.yaml", problems);
    return registers::read_block(document);
}

block_spec read_foreign(const std::string& text) {
    const registers::foreign_text file{.name = "x", .text = text, .block = ""};
    return complete(
        text.starts_with('<') ? registers::read_ipxact(file) : registers::read_rdl(file), file);
}

/// The smaller descriptions of the project in both formats, and one in SystemRDL.
std::vector<std::string> seeds() {
    std::vector<std::string> out{
        "addrmap a { reg r #(longint unsigned N = 2) { field { sw = rw; woclr; } f[N - 1:0] = "
        "{1'b1, 1'b0}; };\n"
        "r #(.N(4)) b[2] @ 0x10 += 8; regfile { r c; r d[2][3]; } e[2] %= 0x40; b.f->desc = \"x\"; "
        "};"};
    for (const auto& text : test::file_texts({"models", "tests/unit/registers"}, ".regs.yaml")) {
        if (text.size() > 3000) continue;
        const auto block = read_yaml(text);
        out.push_back(write_rdl(block, "x"));
        out.push_back(write_ipxact(block, "x"));
    }
    return out;
}

const std::vector<std::string> words{"reg {",
                                     "field {",
                                     "regfile {",
                                     "addrmap a {",
                                     "};",
                                     "} x;",
                                     "[7:0]",
                                     "[2]",
                                     "[1000000000]",
                                     " @ 0x10",
                                     " += 8",
                                     " %= 4",
                                     "= 0;",
                                     "sw = r;",
                                     "hw = na;",
                                     "onread = rset;",
                                     "woclr;",
                                     "singlepulse;",
                                     "default ",
                                     "a->desc = \"\";",
                                     "x.f->reset = 1;",
                                     "#(longint unsigned N = 1)",
                                     "#(.N(2))",
                                     "enum e { A; B = 3; };",
                                     "encode = e;",
                                     "e::A",
                                     "regwidth = 8;",
                                     "alignment = 16;",
                                     "addressing = compact;",
                                     "0xffffffffffffffff",
                                     "64'h1",
                                     "**",
                                     "<<",
                                     "? 1 : 2",
                                     "{2{1'b1}}",
                                     "'{1}",
                                     "(",
                                     ")",
                                     "`ifdef A",
                                     "`endif",
                                     "<%",
                                     "/*",
                                     "\"",
                                     "external ",
                                     "property p { type = number; };",
                                     "trnvp_unnamed;",
                                     "trnvp_access = \"rw once\";",
                                     "ispresent = false;",
                                     "<ipxact:register>",
                                     "</ipxact:register>",
                                     "<ipxact:dim>3</ipxact:dim>",
                                     "<ipxact:range>0xfffffffffffffff0</ipxact:range>",
                                     "&amp;",
                                     "<!DOCTYPE a [<!ENTITY b \"c\">]>",
                                     "<ipxact:access>read-only</ipxact:access>",
                                     "<![CDATA[",
                                     "]]>",
                                     "<!--",
                                     "-->"};

void convert(const std::string& text) {
    const auto block = read_foreign(text);
    const auto expected = registers::emit_cpp(block).text + registers::emit_c(block).text;
    const auto rdl = write_rdl(block, "x");
    try {
        const auto back = read_foreign(rdl);
        if (registers::emit_cpp(back).text + registers::emit_c(back).text == expected) return;
        std::cerr << "not the same:\n" << rdl;
    } catch (const config_error& error) {
        std::cerr << "not read again: " << error.what() << rdl;
    }
    std::abort();
}

}  // namespace

int main(int argc, char** argv) {
    const test::mutator inputs(seeds(), words);
    return test::fuzz(argc, argv, [&](test::fuzz_random& random) {
        try {
            convert(inputs.make(random));
        } catch (const config_error& error) {
            if (error.list().empty() || std::string_view(error.what()).empty()) std::abort();
        }
    });
}
