// SPDX-License-Identifier: Apache-2.0
// Register descriptions in SystemRDL and IP-XACT, and back.
#include "platform/framework/registers/exchange/exchange.h"

#include <fmt/format.h>
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

block_spec from_ipxact(const std::string& text, std::vector<std::string>* left_out = nullptr) {
    const registers::foreign_text file{.name = "x.xml", .text = text, .block = ""};
    const auto read = registers::read_ipxact(file);
    if (left_out != nullptr) *left_out = read.left_out;
    return complete(read, file);
}

/// "NAME 0x10 [2 * 0x4] rw = 0x3; FIELD 7:0 ro": one line per register.
std::string facts(const block_spec& block) {
    std::string out;
    for (const auto& r : block.registers) {
        out += fmt::format("{} {:#x}", r.name, r.offset);
        for (const auto& dim : r.dims) out += fmt::format(" [{} * {:#x}]", dim.count, dim.stride);
        out += fmt::format(" {} = {:#x}", to_string(r.access), r.reset);
        for (const auto& f : r.fields) {
            out += fmt::format("; {} {}:{} {}", f.name, f.lsb + f.width - 1, f.lsb,
                               to_string(f.access));
            for (const auto& v : f.values) out += fmt::format(" {}={}", v.name, v.value);
            if (!f.desc.empty()) out += " " + f.desc;
        }
        out += "\n";
    }
    return out;
}

/// Place, number and sentence of the first mistake.
template <class Read>
std::string refusal(Read read, const std::string& text) {
    try {
        read(text, nullptr);
    } catch (const config_error& error) {
        const auto& one = error.list().at(0);
        return fmt::format("{}:{} E{:02} {}", one.line, one.column, static_cast<unsigned>(one.code),
                           one.message);
    }
    return "accepted";
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

TEST(RegisterExchange, EveryTableComesBackFromIpXact) {
    for (const auto& table : all_tables()) {
        std::vector<std::string> left_out;
        const auto xml = write_ipxact(table, "x");
        const auto back = from_ipxact(xml, &left_out);
        EXPECT_EQ(generated(back), generated(table));
        EXPECT_THAT(left_out, testing::IsEmpty()) << table.block;
        EXPECT_EQ(write_ipxact(back, "x"), xml);
    }
}

constexpr const char* sample = R"(
`define CHIP
`ifdef CHIP
enum mode_e { SLOW; FAST = 2'd1 { desc = "quick"; }; };
`else
this is left out
`endif
reg word #(longint unsigned BITS = 8, longint unsigned RESET = 0) {
    field { desc = "a value"; } V[BITS - 1:0] = RESET;
};
addrmap sample #(longint unsigned N = 4) {
    name = "Sample";
    default sw = rw;
    default hw = r;
    word #(.BITS(16), .RESET(2 ** 4 - 1)) a @ 0x10;
    word b[N] @ 0x100 += 8;
    word c;
    word d %= 0x40;
    regfile {
        word x[2][2] @ 0x4;
        word y;
    } rf[3] @ 0x200 += 0x20;
    external reg {
        regwidth = 32;
        field { sw = r; rclr; encode = mode_e; } MODE[2] = mode_e::FAST;
        field { woclr; level intr; } EVENT;
        field { sw = w; singlepulse; } GO[31:31];
        field { sw = rw1; } LOCK[8:8];
    } s @ 0x300;
    a.V->desc = "another one";
    s.EVENT->enable = a.V;
};
)";

TEST(RegisterExchange, SystemRdlOfOthersIsElaborated) {
    std::vector<std::string> left_out;
    const auto block = from_rdl(sample, &left_out);
    EXPECT_EQ(block.block, "sample");
    EXPECT_EQ(block.size, 0x400u);
    EXPECT_EQ(facts(block),
              "A 0x10 ro = 0xf; V 15:0 rw another one\n"
              "B 0x100 [4 * 0x8] ro = 0x0; V 7:0 rw a value\n"
              "C 0x11c ro = 0x0; V 7:0 rw a value\n"
              "D 0x140 ro = 0x0; V 7:0 rw a value\n"
              "RF_X 0x204 [3 * 0x20] [2 * 0x8] [2 * 0x4] ro = 0x0; V 7:0 rw a value\n"
              "RF_Y 0x214 [3 * 0x20] ro = 0x0; V 7:0 rw a value\n"
              "S 0x300 ro = 0x1; GO 31:31 wo, modify; LOCK 8:8 rw, once; EVENT 2:2 rw1c; MODE 1:0 "
              "rc SLOW=0 FAST=1\n");
    EXPECT_THAT(left_out,
                testing::ElementsAre("x.rdl:4:35: 'desc' of a value: left out",
                                     "x.rdl:31:14: 'enable' names other hardware: left out"));
}

TEST(RegisterExchange, PropertiesOfHardwareReturnToSystemRdl) {
    const auto yaml = write_yaml(from_rdl(sample), "x").text;
    const auto rdl = write_rdl(read_yaml(yaml, "sample.regs.yaml"), "x");
    for (const auto* words :
         {"hw = r;", "singlepulse = true;", "level intr;", "} external s @", "name = \"Sample\";"})
        EXPECT_THAT(rdl, HasSubstr(words));
    EXPECT_EQ(facts(from_rdl(rdl)), facts(from_rdl(sample)));
    EXPECT_EQ(write_yaml(from_rdl(rdl), "x").text, yaml);
    EXPECT_EQ(write_yaml(from_ipxact(write_ipxact(from_rdl(sample), "x")), "x").text, yaml);
}

TEST(RegisterExchange, SystemRdlThatIsNotSupportedIsNamedWithItsPlace) {
    const std::pair<const char*, const char*> inputs[] = {
        {"<% perl %>", "1:1 E08 Perl in SystemRDL is not supported"},
        {"`include \"a\"", "1:1 E08 `include is not supported"},
        {"`define A 1", "1:1 E08 a macro with a value is not supported"},
        {"`ifdef A", "1:1 E03 `endif is missing"},
        {"struct a {};", "1:1 E08 a struct is not supported"},
        {"addrmap a { mem {} m; };", "1:20 E08 a mem is not supported"},
        {"addrmap a { bridge; };", "1:13 E08 bridge is not supported"},
        {"addrmap a { alias b c d; };", "1:13 E08 alias is not supported"},
        {"addrmap a {\n  reg { field {} f[0:7]; } q;\n};",
         "2:18 E08 the order msb0 ([low:high]) is not supported"},
        {"addrmap a { reg { regwidth = 64; accesswidth = 32; field {} f; } q; };",
         "1:34 E08 an access of 32 bits to a register of 64 bits is not supported"},
        {"addrmap a { reg { regwidth = 16; field {} f; } q; reg { field {} f; } s; };",
         "1:71 E08 's' of 32 bits beside registers of 16 bits is not supported"},
        {"addrmap a { reg q #(bit A[] = 1) {}; };",
         "1:26 E08 a parameter that is an array is not supported"},
        {"addrmap a { reg { field {} f; } q[2]; q[1]->desc = \"\"; };",
         "1:40 E08 a property of one element of an array is not supported"},
        {"addrmap a { reg { field {} f; } q; q.g->hw = r; };", "1:38 E40 no instance 'g'"},
        {"addrmap a { rge {} q; };", "1:17 E03 an instance's name is expected, not '{'"},
        {"addrmap a { b c; };", "1:13 E10 no component 'b'"},
        {"addrmap a { a b; };", "1:15 E05 components nested deeper than 32"},
        {"addrmap a { reg { field { sww = r; } f; } q; };", "1:27 E11 no property 'sww'"},
        {"addrmap a { reg { field { regwidth = 8; } f; } q; };",
         "1:27 E11 a field has no property 'regwidth'"},
        {"addrmap a { reg { field { sw = r; woclr; } f; } q; };",
         "1:44 E13 'f' has an effect of writes, and sw has no such access"},
        {"addrmap a { reg { field {} f[33]; } q; };",
         "1:28 E33 field 'f' of 33 bits begins at bit 0, the register has 32"},
        {"addrmap a { reg { field {} f[3:0] = 16; } q; };", "1:28 E36 0x10 does not fit 4 bits"},
        {"addrmap a { reg { field {} f; } q[1000000000]; };",
         "1:9 E22 the aperture must have 1 to 268435456 bytes"},
        {"addrmap a { reg { field {} f; } q[4294967296][4294967296]; };",
         "1:33 E37 'q' has too many elements"},
        {"addrmap a { reg { field {} f; } q @ 0xffffffffffffffff; };",
         "1:33 E22 'q' lies beyond 2^40 bytes"},
        {"addrmap a { reg { field {} f; } q @ 1 - 2; };",
         "1:39 E22 the result is negative, or needs more than 64 bits"},
        {"addrmap a { reg { field {} f; } q @ 1 / 0; };", "1:39 E22 division by zero"},
        {"addrmap a { reg { field {} f; } q @ N; };", "1:37 E24 no parameter 'N'"},
        {"addrmap a { reg { field {} f; } q @ 18446744073709551616; };",
         "1:37 E22 the number needs more than 64 bits"},
        {"addrmap a { reg { field {} f; } q @ 0; reg { field {} f; } s @ 0; };",
         "1:60 E30 'S' and 'Q' are both at 0x0"},
        {"addrmap a { reg { field {} f; } q; reg { field {} f; } Q; };",
         "1:56 E35 a second register 'Q'"},
        {"addrmap a { reg { field {} f; } q; } ;\n/* never", "2:1 E03 the comment does not end"},
        {"reg a { field {} f; };", "0:0 E09 the file has no addrmap"},
    };
    for (const auto& [text, wanted] : inputs) EXPECT_EQ(refusal(from_rdl, text), wanted) << text;
}

std::string component(const std::string& registers, const std::string& head = "") {
    return head +
           "<component><memoryMaps><memoryMap><name>m</name><addressBlock><name>b</name><range>4K</"
           "range>"
           "<width>32</width>\n" +
           registers + "</addressBlock></memoryMap></memoryMaps></component>";
}
std::string one_register(const std::string& inside) {
    return component("<register><name>r</name><addressOffset>'h10</addressOffset><size>32</size>" +
                     inside + "</register>");
}

TEST(RegisterExchange, SystemRdlIsBounded) {
    const auto repeated = [](const std::string& text, std::size_t count) {
        std::string out;
        for (; count > 0; --count) out += text;
        return out;
    };
    const std::string reg = "addrmap a { reg { field {} f; } q @ ";
    EXPECT_THAT(refusal(from_rdl, reg + repeated("(", 100000)), HasSubstr("E05"));
    EXPECT_THAT(refusal(from_rdl, reg + repeated("a[", 100000)), HasSubstr("E05"));
    EXPECT_THAT(refusal(from_rdl, reg + repeated("{1{", 100000)), HasSubstr("E05"));
    EXPECT_THAT(refusal(from_rdl, reg + "1" + repeated(" + 1", 100000)), HasSubstr("E05"));
    EXPECT_THAT(refusal(from_rdl, repeated("addrmap a { ", 100000)), HasSubstr("E05"));
    std::string doubling = "reg q { field {} f; }; regfile t0 { q a; q b; };";
    for (int i = 1; i < 30; ++i)
        doubling += fmt::format("regfile t{} {{ t{} a; t{} b; }};", i, i - 1, i - 1);
    EXPECT_THAT(refusal(from_rdl, doubling + "addrmap m { t29 a; };"),
                HasSubstr("E06 more than 200000 components"));
    const std::string use = "addrmap m { reg { field { encode = e; } f; } q; };";
    EXPECT_THAT(refusal(from_rdl, "enum e { A = e::B; B = 1; };" + use), HasSubstr("E05"));
    std::string chain = "enum e { A = 1; B = 1; };";
    for (int i = 0; i < 30; ++i)
        chain = fmt::format("enum e{0} {{ A = e{1}::A; B = e{1}::B; }};", i, i - 1) + chain;
    EXPECT_NE(refusal(from_rdl, chain + use), "");
    std::string many = "reg word { field {} f; }; addrmap m { word a0";
    for (int i = 1; i < 60000; ++i) many += fmt::format(", a{}", i);
    EXPECT_THAT(refusal(from_rdl, many + "; };"), HasSubstr("is larger than 4 MiB"));
    const std::string defaults = "addrmap m { " + repeated("default desc = \"a\";", 60000);
    std::string words = "reg word { field {} f; }; word b0";
    for (int i = 1; i < 60000; ++i) words += fmt::format(", b{}", i);
    EXPECT_THAT(refusal(from_rdl, defaults + words + "; };"), HasSubstr("5,000,000 steps"));
}

TEST(RegisterExchange, AddressingIsOfOneAddressMap) {
    const auto inner = from_rdl(
        "addrmap m { addressing = compact; reg word { field {} f[8]; };"
        "addrmap { word A[3]; regfile { word b; word c; word d; } F; } i; };");
    EXPECT_THAT(facts(inner), HasSubstr("0x10 ro"));
    EXPECT_THAT(refusal(from_rdl, "addrmap m { addressing = foo; reg { field {} f; } q; };"),
                HasSubstr("addressing is compact, regalign or fullalign"));
}

TEST(RegisterExchange, NamesOfIpXactAreWords) {
    EXPECT_THAT(refusal(from_ipxact, component("<register><name>A # hidden</name><addressOffset>0"
                                               "</addressOffset><size>32</size></register>")),
                HasSubstr("'A # hidden' is not a name: letters, digits and _ only"));
}

TEST(RegisterExchange, IpXactOfOthersIsRead) {
    std::vector<std::string> left_out;
    const auto of_2022 = from_ipxact(component(
        "<registerFile><name>q</name><array><dim>4</dim><stride>0x40</stride></"
        "array><addressOffset>0x100</addressOffset>"
        "<range>0x20</range><register><name>r</name><addressOffset>8</addressOffset><size>32</size>"
        "<field><name>f</name><bitOffset>4</bitOffset><resets><reset><value>'h3</value></reset></"
        "resets>"
        "<bitWidth>2</bitWidth><enumeratedValues><enumeratedValue><name>on</name><value>1</value>"
        "</enumeratedValue></"
        "enumeratedValues><fieldAccessPolicies><fieldAccessPolicy><access>read-only</access>"
        "<readAction>clear</readAction></fieldAccessPolicy></fieldAccessPolicies></field></"
        "register></registerFile>"));
    EXPECT_EQ(facts(of_2022), "Q_R 0x108 [4 * 0x40] ro = 0x30; F 5:4 rc ON=1\n");
    EXPECT_EQ(of_2022.size, 4096u);
    const auto of_2009 =
        from_ipxact(one_register("<dim>2</dim><access>read-write</access><reset><value>0x105</"
                                 "value><mask>0xff</mask></reset>"
                                 "<field><name>f</name><bitOffset>0</bitOffset><bitWidth>8</"
                                 "bitWidth></field><vendorExtensions><x/></vendorExtensions>"),
                    &left_out);
    EXPECT_EQ(facts(of_2009), "R 0x10 [2 * 0x4] ro = 0x5; F 7:0 rw\n");
    EXPECT_THAT(left_out,
                testing::ElementsAre(HasSubstr("the extension 'x' of a vendor: left out")));
}

TEST(RegisterExchange, IpXactThatIsNotSupportedIsNamedWithItsPlace) {
    const std::string bomb = "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]>\n";
    const std::string file = "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>\n";
    EXPECT_THAT(refusal(from_ipxact, component("&c;", bomb)),
                HasSubstr("E04 a document type (DTD) is not supported"));
    EXPECT_THAT(refusal(from_ipxact, component("&b;", file)),
                HasSubstr("E04 a document type (DTD) is not supported"));
    EXPECT_EQ(refusal(from_ipxact, component("&b;")), "2:1 E03 this is no XML: undefined entity");
    EXPECT_EQ(refusal(from_ipxact, "<a>\n<b></a>"), "2:6 E03 this is no XML: mismatched tag");
    EXPECT_EQ(refusal(from_ipxact, ""), "1:1 E03 this is no XML: no element found");
    EXPECT_EQ(refusal(from_ipxact, "<design/>"), "1:1 E08 a component is expected, not 'design'");
    EXPECT_EQ(refusal(from_ipxact, "<component/>"), "1:1 E09 the component has no memory map");
    EXPECT_EQ(refusal(from_ipxact, one_register("<alternateRegisters/>")),
              "2:75 E08 'alternateRegisters' is not supported");
    EXPECT_EQ(refusal(from_ipxact, component("<register><name>r</name></register>")),
              "2:1 E09 'register' has no 'size'");
    EXPECT_EQ(refusal(from_ipxact, one_register("<dim>W + 1</dim>")),
              "2:75 E24 'dim' is 'W + 1': numbers of up to 64 bits and names of parameters are "
              "supported");
    EXPECT_EQ(refusal(from_ipxact, one_register("<dim>1000000000</dim>")),
              "2:11 E37 more than 65536 elements");
    EXPECT_EQ(refusal(from_ipxact, one_register("<access>any</access>")),
              "2:75 E26 'any' is no access of IP-XACT");
    EXPECT_EQ(refusal(from_ipxact, component("</addressBlock><addressBlock><name>c</name>")),
              "2:16 E07 2 address blocks: a description is of one");
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "<a>";
    EXPECT_THAT(refusal(from_ipxact, deep), HasSubstr("E05 elements nested deeper than 64"));
}

TEST(RegisterExchange, ArraysThatInterleaveBecomeGroups) {
    const auto text = [](const std::string& second) {
        return "{block: b, source: s, size: 0x100, known_by: driver, fidelity: exact, access: rw, "
               "registers: [\n"
               "{name: A, array: {stride: 8, count: 4}}, " +
               second + "]}";
    };
    const auto block =
        read_yaml(text("{name: B, array: {base: 4, stride: 8, count: 4}}"), "b.regs.yaml");
    EXPECT_EQ(generated(from_rdl(write_rdl(block, "x"))), generated(block));
    EXPECT_EQ(generated(from_ipxact(write_ipxact(block, "x"))), generated(block));
    const auto write = [&](const std::string& second, std::nullptr_t) {
        write_rdl(read_yaml(text(second), "b.regs.yaml"), "x");
    };
    EXPECT_EQ(
        refusal(write, "{name: B, offset: 4}"),
        "2:49 E37 'B' lies between elements of 'A': SystemRDL and IP-XACT have no such arrays");
}

}  // namespace
