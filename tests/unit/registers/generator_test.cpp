// SPDX-License-Identifier: Apache-2.0
// One test per error in a register description; output and exit status of the generator.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
    registers::read_block(document);
    try {
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
    EXPECT_EQ(mistake_in("{name: A, array: {strid: 4, stride: 4, count: 2}}"), "E11 at 3:19");
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
    const auto text = registers::emit_c(example());
    EXPECT_THAT(
        text,
        HasSubstr(
            "#define TRN_EXAMPLE_Q_SELECTOR_OFFSET(i, j) (0x1040 + (i) * 0x1000 + (j) * 0x10)\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_CONTROL_MODE_SHIFT 4\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_CONTROL_MODE_TURBO 0x2\n"));
    EXPECT_THAT(text, HasSubstr("#define TRN_EXAMPLE_Q_TAIL_COUNT 3\n"));
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
}

}  // namespace
