// SPDX-License-Identifier: Apache-2.0
// One test per error in a register description; output and exit status of the generator.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "platform/framework/registers/generator/emit.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using testing::HasSubstr;

/// The first error in a block with these registers, which begin on line 3.
std::string mistake_in(const std::string& registers, const std::string& head = "") {
    const auto text =
        "{block: b, source: s, size: 0x100, known_by: driver, fidelity: exact, access: rw,\n" +
        head + " registers: [\n" + registers + "]}\n";
    diagnostics problems;
    const auto document = config::document::parse(text, "models/b/b.regs.yaml", problems);
    const auto block = registers::read_block(document);
    try {
        problems.throw_if_any();
        registers::check_names(document, block);
        problems.throw_if_any();
    } catch (const config_error& error) {
        const auto& one = error.list().at(0);
        return "E" + std::to_string(static_cast<unsigned>(one.code)) + " at " +
               std::to_string(one.line) + ":" + std::to_string(one.column);
    }
    return "";
}

TEST(RegisterDescription, ValidDescriptionIsAccepted) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0}"), "");
    EXPECT_EQ(
        mistake_in(
            "{name: A, array: {base: 0, dims: [{stride: 0x10, count: 4}, {stride: 4, count: 4}]}}"),
        "");
}
TEST(RegisterDescription, E09KnowledgeIsRequired) {
    diagnostics problems;
    const auto document = config::document::parse(
        "{block: b, source: s, size: 4, registers: [{name: A, offset: 0, access: ro}]}",
        "b.regs.yaml", problems);
    registers::read_block(document);
    ASSERT_EQ(problems.list().size(), 2u);
    EXPECT_EQ(problems.list()[0].code, mistake::missing_key);
    EXPECT_THAT(problems.list()[0].message, HasSubstr("known_by"));
    EXPECT_THAT(problems.list()[1].message, HasSubstr("fidelity"));
}
TEST(RegisterDescription, E11UnknownKeysOfRegisterFieldGroupAndArray) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, ofset: 1}"), "E11 at 3:22");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '0', bit: 1}]}"),
              "E11 at 3:52");
    EXPECT_EQ(mistake_in("{array: {stride: 4, count: 2}, offset: 0, registers: []}"),
              "E11 at 3:32");
    EXPECT_EQ(mistake_in("{offset: 0, prefix: A_, registers: []}"), "");
    EXPECT_EQ(mistake_in("{name: A, array: {strid: 4, stride: 4, count: 2}}"), "E11 at 3:19");
}
TEST(RegisterDescription, E08KeptPropertiesAreLiteralsOfSystemRdl) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, rdl: {hw: r, name: '\"a\\\"b\"'}}"), "");
    for (const auto* value : {"'r; sw'", "'\"a\" b\"'", "'\"a\\\"'", "[r]", "''"})
        EXPECT_EQ(mistake_in(std::string("{name: A, offset: 0, rdl: {hw: ") + value + "}}"),
                  "E8 at 3:32");
}
TEST(RegisterDescription, E22ApertureAndWidthAreBounded) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0}", "width: 24, "), "E22 at 2:8");
    diagnostics problems;
    const auto document = config::document::parse(
        "{block: b, source: s, size: 1 GiB, registers: []}", "b.regs.yaml", problems);
    registers::read_block(document);
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_EQ(problems.list()[0].code, mistake::out_of_range);
}
TEST(RegisterDescription, E26UnknownAccessKind) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: r}"), "E26 at 3:30");
}
TEST(RegisterDescription, EffectsOfIpXactAreAcceptedWhereTheyHaveOne) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, modified_write_value: zero_to_toggle, "
                         "read_action: set, write_once: true}"),
              "");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: wo, modified_write_value: modify}"), "");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: ro, read_action: clear}"), "");
}
TEST(RegisterDescription, E26UnknownEffectsHaveASuggestion) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, modified_write_value: oneToClear}"), "E26 at 3:44");
    diagnostics problems;
    const auto document = config::document::parse(
        "{block: b, source: s, size: 4, known_by: driver, fidelity: exact, registers: [{name: A, "
        "offset: 0, access: rw, read_action: sets, modified_write_value: one_to_togle}]}",
        "b.regs.yaml", problems);
    registers::read_block(document);
    ASSERT_EQ(problems.list().size(), 2u);
    std::string suggestions;
    for (const auto& each : problems.list()) suggestions += each.suggestion;
    EXPECT_THAT(suggestions, HasSubstr("one_to_toggle"));
    EXPECT_THAT(suggestions, HasSubstr("set"));
}
TEST(RegisterDescription, E13EffectsThatTheAccessRulesOut) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: ro, modified_write_value: clear}"),
              "E13 at 3:56");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: rw1c, modified_write_value: clear}"),
              "E13 at 3:58");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: wo, read_action: clear}"), "E13 at 3:47");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, access: rc, write_once: true}"), "E13 at 3:46");
}
TEST(RegisterDescription, E27NamesMustBeIdentifiers) {
    EXPECT_EQ(mistake_in("{name: A-B, offset: 0}"), "E27 at 3:8");
}
TEST(RegisterDescription, E30TwoRegistersAtOneOffset) {
    EXPECT_EQ(mistake_in("{name: A, offset: 8},\n {name: B, offset: 8}"), "E30 at 4:9");
    EXPECT_EQ(
        mistake_in("{name: A, array: {base: 0, stride: 8, count: 4}},\n {name: B, offset: 16}"),
        "E30 at 4:9");
}
TEST(RegisterDescription, E31OutsideTheAperture) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0x100}"), "E31 at 3:1");
    EXPECT_EQ(mistake_in("{name: A, array: {base: 0x80, stride: 0x20, count: 6}}"), "E31 at 3:1");
    EXPECT_EQ(mistake_in("{name: A, offset: 0xfffffffffffffffe}"), "E31 at 3:1");
    EXPECT_EQ(mistake_in("{name: A, array: {stride: 0xfffffffffffffffc, count: 4}}"), "E31 at 3:1");
}
TEST(RegisterDescription, E32Misaligned) {
    EXPECT_EQ(mistake_in("{name: A, offset: 2}"), "E32 at 3:1");
    EXPECT_EQ(mistake_in("{name: A, array: {stride: 6, count: 2}}"), "E32 at 3:27");
}
TEST(RegisterDescription, E33BitRanges) {
    for (const char* bits : {"'32'", "'0:3'", "'3:'", "''", "x", "[1]"})
        EXPECT_EQ(mistake_in("{name: A, offset: 0, fields: [{name: F, bits: " + std::string(bits) +
                             "}]}"),
                  "E33 at 3:47")
            << bits;
}
TEST(RegisterDescription, E34FieldsShareABit) {
    EXPECT_EQ(
        mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '7:4'},\n{name: G, bits: '4'}]}"),
        "E34 at 4:17");
}
TEST(RegisterDescription, E35NamesAreUnique) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0},\n{name: a, offset: 4}"), "E35 at 4:8");
    EXPECT_EQ(
        mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '1'},\n{name: f, bits: '0'}]}"),
        "E35 at 4:8");
    EXPECT_EQ(
        mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '1:0', values: {X: 1, x: 2}}]}"),
        "E35 at 3:69");
}
TEST(RegisterDescription, E35NamesOfTheGeneratedHeadersAreUnique) {
    const auto fields = [](const std::string& list) {
        return "{name: MODE, offset: 8, fields: [" + list + "]}";
    };
    for (const auto* value : {"SHIFT", "MASK", "GET", "set"})
        EXPECT_EQ(
            mistake_in(fields("\n{name: F, bits: '3:0', values: {" + std::string(value) + ": 3}}")),
            "E35 at 4:33")
            << value;
    // One C++ name: "size" is taken, so that both registers and both fields become "size_".
    EXPECT_EQ(mistake_in("{name: SIZE_, offset: 0},\n{name: SIZE, offset: 4}"), "E35 at 4:8");
    EXPECT_EQ(mistake_in(fields("{name: INT, bits: '0'},\n{name: INT_, bits: '1'}")), "E35 at 4:8");
    // MODE_F_X is a value of field F, the begin of field F_X, and a register.
    EXPECT_EQ(mistake_in(fields("{name: F, bits: '3:0', values: {X: 2}},\n{name: F_X, bits: '4'}")),
              "E35 at 4:8");
    EXPECT_EQ(mistake_in("{name: MODE_F, offset: 0},\n" +
                         fields("{name: F, bits: '3:0', values: {OFFSET: 2}}")),
              "E35 at 4:66");
    EXPECT_EQ(mistake_in("{name: A_X, offset: 0, fields: [{name: F, bits: '0'}]},\n"
                         "{name: A, offset: 4, fields: [{name: X_F, bits: '0'}]}"),
              "E35 at 4:38");
}
TEST(RegisterDescription, E13ResetValueBelongsToTheRegisterOrToItsFields) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, reset: 7,\n"
                         "fields: [{name: F, bits: '3:0', reset: 1}, {name: G, bits: '4'}]}"),
              "E13 at 3:29");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, reset: 7, fields: [{name: F, bits: '3:0'}]}"), "");
}
TEST(RegisterDescription, E36ResetAndValuesFit) {
    EXPECT_EQ(mistake_in("{name: A, offset: 0, reset: 0x100000000}"), "E36 at 3:29");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '1', reset: 2}]}"),
              "E36 at 3:59");
    EXPECT_EQ(mistake_in("{name: A, offset: 0, fields: [{name: F, bits: '1', values: {X: 2}}]}"),
              "E36 at 3:64");
}
TEST(RegisterDescription, E37Arrays) {
    EXPECT_EQ(mistake_in("{name: A, array: {stride: 4, count: 0}}"), "E37 at 3:37");
    EXPECT_EQ(mistake_in("{name: A, array: {stride: 0, count: 4}}"), "E37 at 3:27");
    EXPECT_EQ(mistake_in("{name: A, array: {stride: 4, count: 0xffffffff}}"), "E37 at 3:1");
}
TEST(RegisterDescription, E38FileNameMustMatchTheBlock) {
    diagnostics problems;
    const auto document = config::document::parse("{block: c, source: s, size: 4, registers: []}",
                                                  "b.regs.yaml", problems);
    registers::read_block(document);
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_EQ(problems.list()[0].code, mistake::block_name);
}

registers::block_spec example() {
    diagnostics problems;
    const auto document =
        config::document::load("tests/unit/registers/example.regs.yaml", problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    return block;
}

TEST(RegisterGenerator, CHeaderHasOffsetsArraysAndFields) {
    const auto text = registers::emit_c(example()).text;
    EXPECT_THAT(
        text,
        HasSubstr(
            "#define TRN_EXAMPLE_Q_SELECTOR_OFFSET(i, j) (0x1040 + (i) * 0x1000 + (j) * 0x10)\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_CONTROL_MODE_SHIFT 4\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_CONTROL_MODE_TURBO 0x2\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_Q_TAIL_COUNT 3\n"));
}

TEST(RegisterGenerator, EachDefineIsAmongTheCollectedNames) {
    const auto header = registers::emit_c(example());
    std::set<std::string> collected{"TRN_U32", "TRN_U64"}, defined;
    for (const auto& [name, where] : header.names) collected.insert(name);
    static constexpr std::string_view define = "#define ";
    for (auto at = header.text.find(define); at != std::string::npos;
         at = header.text.find(define, at)) {
        at += define.size();
        defined.insert(header.text.substr(at, header.text.find_first_of(" (\n", at) - at));
    }
    EXPECT_EQ(collected, defined);
}

/// A description whose texts are `text`, written with YAML's escapes.
registers::block_spec block_with_text(const std::string& text) {
    diagnostics problems;
    const auto document = config::document::parse(
        "{block: b, source: \"" + text + "\", desc: \"" + text +
            "\", size: 4, known_by: driver, fidelity: exact, access: rw, registers: [{name: A, "
            "offset: 0, contract_skip: \"" +
            text + "\", desc: \"" + text + "\", fields: [{name: F, bits: '0', desc: \"" + text +
            "\"}]}]}",
        "b.regs.yaml", problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    return block;
}

TEST(RegisterGenerator, ControlCharactersDoNotReachTheOutput) {
    const auto block = block_with_text("x\\r#\\n#\\t#\\x0b#\\f#\\e#\\x7f#\\0y");
    for (const auto& text : {registers::emit_cpp(block).text, registers::emit_c(block).text,
                             registers::emit_page(block)}) {
        EXPECT_THAT(text, HasSubstr("x # # # # # # # y"));
        for (const char c : text)
            EXPECT_TRUE(c == '\n' || (c != 0x7f && static_cast<unsigned char>(c) >= ' ')) << text;
    }
}

TEST(RegisterGenerator, MarkersInTextDoNotDivideThePage) {
    const auto page = registers::emit_page(
        block_with_text(std::string(registers::markdown_end) + registers::markdown_begin.data()));
    EXPECT_EQ(page.find(registers::markdown_begin), page.rfind(registers::markdown_begin));
    EXPECT_EQ(page.find(registers::markdown_end) + registers::markdown_end.size() + 1, page.size());
}

TEST(RegisterGenerator, CitationsOfAnyLengthBecomeLinks) {
    const auto chapter = [](const std::string& text) {
        return registers::emit_markdown(block_with_text(text));
    };
    EXPECT_THAT(chapter("see contract 7.2."),
                HasSubstr("see [contract 7.2](../../spec/device-contract.md#s7.2). "));
    EXPECT_THAT(chapter("see EFA contract 4"),
                HasSubstr("see [EFA contract 4](../../spec/efa-contract.md#s4) "));
    EXPECT_THAT(chapter("contract contract 1..2"),
                HasSubstr("| contract [contract 1](../../spec/device-contract.md#s1)..2"));
    EXPECT_THAT(chapter("contract 3contract 4"), HasSubstr("#s3)contract 4"));
    for (const auto* text : {"subcontract 7", "_contract 7", "contract .7", "contract x"})
        EXPECT_THAT(chapter(text), testing::Not(HasSubstr("device-contract"))) << text;
    std::string section = "1";
    for (int i = 0; i < 60'000; ++i) section += ".1";
    EXPECT_THAT(chapter("contract " + section), HasSubstr("#s" + section + ")"));
}

TEST(RegisterGenerator, FieldsAndLongListsOfValuesHaveRows) {
    auto block = block_with_text("");
    auto& field = block.registers[0].fields[0];
    field.desc = "Kind";
    field.values = {{"NONE", 0, {}}, {"SOME", 1, {}}};
    EXPECT_THAT(registers::emit_markdown(block),
                HasSubstr(" | " + field.name + " | Kind: NONE = 0x0, SOME = 0x1 |\n"));
    for (unsigned i = 2; i < 30; ++i) field.values.push_back({"VALUE_" + std::to_string(i), i, {}});
    EXPECT_THAT(registers::emit_markdown(block),
                HasSubstr(" | " + field.name + " | Kind |\n| | | `0x0` | NONE |\n"));
}

TEST(RegisterGenerator, CppKeywordsAreNoNames) {
    for (const auto* name : {"std", "trn", "concept", "bitand", "nullptr", "typeid"}) {
        auto block = block_with_text("");
        block.registers[0].name = block.registers[0].fields[0].name = name;
        const auto text = registers::emit_cpp(block).text;
        EXPECT_THAT(text, HasSubstr("namespace " + std::string(name) + "_ {")) << name;
        EXPECT_THAT(text, HasSubstr("register_field " + std::string(name) + "_{")) << name;
    }
}

TEST(RegisterGenerator, ChapterIsSortedByKnowledge) {
    const auto text = registers::emit_markdown(example());
    const auto driver = text.find("| driver |"), document = text.find("| document |");
    const auto inferred = text.find("| inferred |"), invented = text.find("| invented |");
    EXPECT_LT(driver, document);
    EXPECT_LT(document, inferred);
    EXPECT_LT(inferred, invented);
    EXPECT_THAT(text, HasSubstr("Busy \\| idle"));
}

class GeneratorCommand : public testing::Test {
protected:
    int run(const std::string& arguments) {
        const int status = std::system(
            (std::string(TRN_GENERATOR) + " " + arguments + " 2>" + (folder / "err")).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string text(const std::string& file) {
        std::ifstream stream(folder / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    const trn::test::scratch_folder folder;
    const std::string example = "tests/unit/registers/example.regs.yaml";
};

TEST_F(GeneratorCommand, ExitsWithStatus2OnAnInvalidDescription) {
    std::ofstream(folder / "b.regs.yaml") << "block: b\nsize: x\n";
    EXPECT_EQ(run((folder / "b.regs.yaml") + " --c " + (folder / "b.h")), 2);
    EXPECT_THAT(text("err"), HasSubstr("b.regs.yaml:2:7: E24 "));
    EXPECT_FALSE(std::filesystem::exists(folder / "b.h"));
    EXPECT_EQ(run("no-such-file"), 2);
    EXPECT_EQ(run("--no-such-option"), 2);
}

TEST_F(GeneratorCommand, RefusesPathsThatTheSystemRefuses) {
    const std::string name(300, 'a');
    const auto file = folder / name;
    for (const auto* option : {"--cpp ", "--c ", "--list ", "--docs "}) {
        EXPECT_EQ(run(example + " " + option + file), 2) << option;
        EXPECT_THAT(text("err"), HasSubstr("E01 cannot be written")) << option;
    }
    EXPECT_EQ(run(example + " --check --docs " + file), 2);
    EXPECT_THAT(text("err"), HasSubstr("E39"));
    EXPECT_EQ(run(example + " --list " + (folder / "list") + " --root " + file), 2);
    EXPECT_THAT(text("err"), HasSubstr("E01 cannot be read"));
    EXPECT_EQ(run(file), 2);
    EXPECT_EQ(run(file + "/b.regs.yaml"), 2);
    std::filesystem::create_directory(folder / "example.md");
    EXPECT_EQ(run(example + " --docs " + folder.text()), 2);
    EXPECT_THAT(text("err"), HasSubstr("E01 cannot be read"));
}

TEST_F(GeneratorCommand, E35NamesOfTwoBlocksAreUnique) {
    const std::string rest =
        ", source: s, size: 4, known_by: driver, fidelity: exact, access: rw,\nregisters: [{name: ";
    std::ofstream(folder / "a.regs.yaml") << "{block: a" + rest + "B_X, offset: 0}]}";
    std::ofstream(folder / "a_b.regs.yaml") << "{block: a_b" + rest + "X, offset: 0}]}";
    const auto a = folder / "a.regs.yaml", b = folder / "a_b.regs.yaml";
    EXPECT_EQ(run(a + " " + b + " --list " + (folder / "list")), 2);
    EXPECT_THAT(text("err"), HasSubstr("a_b.regs.yaml:2:20: E35 'TRN_A_B_X_OFFSET'"));
    EXPECT_FALSE(std::filesystem::exists(folder / "list"));
    EXPECT_EQ(run(a), 0);
    EXPECT_EQ(run(b), 0);
}

TEST_F(GeneratorCommand, E39FindsAStaleChapterAndRewritesOnlyIt) {
    const auto docs = example + " --docs " + folder.text();
    EXPECT_EQ(run(docs + " --check"), 2);
    EXPECT_THAT(text("err"), HasSubstr("E39"));
    EXPECT_EQ(run(docs), 0);
    EXPECT_EQ(run(docs + " --check"), 0);
    const auto page = text("example.md");
    std::ofstream(folder / "example.md") << "before\n"
                                         << page.substr(page.find("<!--")) << "after\n";
    EXPECT_EQ(run(docs + " --check"), 0);
    std::ofstream(folder / "example.md") << "before\n"
                                         << registers::markdown_begin << "\nold\n"
                                         << registers::markdown_end << "\nafter\n";
    EXPECT_EQ(run(docs + " --check"), 2);
    EXPECT_EQ(run(docs), 0);
    EXPECT_THAT(text("example.md"), testing::StartsWith("before\n<!--"));
    EXPECT_THAT(text("example.md"), testing::EndsWith("end -->\nafter\n"));
    std::ofstream(folder / "example.md") << "no markers\n";
    EXPECT_EQ(run(docs), 2);
    EXPECT_EQ(text("example.md"), "no markers\n");
    std::ofstream(folder / "example.md") << "";
    EXPECT_EQ(run(docs), 2);
    EXPECT_THAT(text("err"), HasSubstr("E39"));
}

}  // namespace
