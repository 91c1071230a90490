// SPDX-License-Identifier: Apache-2.0
// One test per error in a document: YAML input, expected code, line and column (house style R15).
#include "platform/framework/config/document.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

#include "platform/framework/config/nearest_words.h"
#include "tests/support/finding.h"

namespace trn::config {
enum class color { red, green };
template <>
struct choices<color> {
    static constexpr std::array list{choice<color>{"red", color::red},
                                     choice<color>{"green", color::green}};
};
}  // namespace trn::config

namespace {

using namespace trn;
using test::finding;
using testing::HasSubstr;

std::vector<diagnostic> mistakes(const std::string& yaml,
                                 const std::function<void(config::node)>& read) {
    diagnostics problems;
    try {
        const auto document = config::document::parse(yaml, "board.yaml", problems);
        read(document.root());
        document.reject_unused();
        problems.throw_if_any();
    } catch (const config_error& error) {
        return error.list();
    }
    return {};
}

finding first(const std::string& yaml, const std::function<void(config::node)>& read) {
    const auto list = mistakes(yaml, read);
    if (list.empty()) return {};
    return {list[0].code, list[0].line, list[0].column};
}

template <class T>
finding reading(const std::string& yaml) {
    return first(yaml, [](config::node root) { root.require<T>("v"); });
}

const auto nothing = [](config::node) {};

TEST(Document, E01NamesAFileThatCannotBeRead) {
    diagnostics problems;
    try {
        config::document::load("no/such/file.yaml", problems);
        FAIL();
    } catch (const config_error& error) {
        EXPECT_EQ(error.list().at(0).code, mistake::unreadable_file);
        EXPECT_THAT(error.what(), testing::StartsWith("no/such/file.yaml: E01 "));
    }
    EXPECT_THROW(config::document::load("tests", problems), config_error);  // a folder
}

TEST(Document, E02RefusesAFileOverFourMebibytes) {
    const std::string longest((4u << 20) + 1, ' ');
    EXPECT_EQ(first(longest, nothing).code, mistake::file_too_large);
}

TEST(Document, E03PointsToInvalidYaml) {
    EXPECT_EQ(first("a: 1\nb: [1, 2\n", nothing).code, mistake::not_yaml);
    EXPECT_EQ(first("a: 1\nb: }\n", nothing), (finding{mistake::not_yaml, 2, 4}));
    EXPECT_EQ(first(std::string("a: 1\nb: \0", 9), nothing), (finding{mistake::not_yaml, 2, 4}));
    EXPECT_EQ(first("a: 1\n---\nb: 2\n", nothing).code, mistake::not_yaml);
}

TEST(Document, E04RefusesAnchorsAliasesAndTags) {
    EXPECT_EQ(first("a: &x 1\n", nothing), (finding{mistake::alias_refused, 1, 4}));
    EXPECT_EQ(first("a: !foo 1\n", nothing), (finding{mistake::alias_refused, 1, 4}));
    EXPECT_EQ(first("a: &a [x]\nb: [*a, *a]\n", nothing).code, mistake::alias_refused);
}

TEST(Document, E05BoundsTheNestingDepth) {
    EXPECT_EQ(first(std::string(33, '[') + std::string(33, ']'), nothing),
              (finding{mistake::nested_too_deep, 1, 33}));
    EXPECT_NE(first(std::string(100'000, '['), nothing).code, mistake{});
}

TEST(Diagnostics, EscapeControlCharactersAndCutLongText) {
    diagnostic one;
    one.code = mistake::bad_name;
    one.file = "a\x1b[2J.yaml";
    one.message = "'\x1b[31m\xc2\x9b\xe2\x80\xae\xff\n' is no n\xc3\xa4me";
    one.suggestion = std::string(1 << 20, 'x');
    const auto text = one.text();
    EXPECT_THAT(text, testing::StartsWith("a\\x1b[2J.yaml: E27 '\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae"
                                          "\\xff\\x0a' is no n\xc3\xa4me\n"));
    EXPECT_LT(text.size(), 3000u);
}

TEST(Document, E06BoundsTheNumberOfValues) {
    std::string many = "[";
    for (int i = 0; i < 200'001; ++i) many += "1,\n";
    EXPECT_EQ(first(many + "]", nothing).code, mistake::too_many_values);
}

TEST(Document, BracketsAndCommasInQuotedTextAreNoValues) {
    const std::string many(200'001, ',');
    for (const auto& each :
         {"a: '" + many + "'\n", "a: \"[{\\\"" + many + "\"\n", "- \"" + many + "\"\n",
          "a: [b, '" + many + "', c]\n", "a: 'it''s" + many + "'\n"})
        for (const auto& one : mistakes(each, nothing))
            EXPECT_EQ(one.code, mistake::unused_key) << one.text().substr(0, 100);
    // The quotes of these end before the commas, or are no quotes.
    for (const auto& each : {"a: ['b'" + many + "]\n", "a: ['b', \"c\\\\\"" + many + "]\n",
                             "a: [b'" + many + "]\n", "a: [' b" + many + "\n']\n"})
        EXPECT_EQ(first(each, nothing).code, mistake::too_many_values) << each.substr(0, 20);
}

TEST(Document, E07FindsADuplicateKey) {
    const auto list = mistakes("a: 1\nb: {c: 1, c: 2}\na: 3\n", [](config::node root) {
        for (const auto& e : root.entries())
            if (e.value.is_map()) e.value.entries();
    });
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].line, 2);
    EXPECT_EQ(list[0].column, 11);
    EXPECT_EQ(list[1].line, 3);
    EXPECT_THAT(list[1].suggestion, HasSubstr("line 1"));
}

TEST(Document, E08NamesTheExpectedNodeType) {
    EXPECT_EQ(reading<int>("v: [1]\n"), (finding{mistake::wrong_shape, 1, 4}));
    EXPECT_EQ(reading<std::vector<int>>("v: 1\n"), (finding{mistake::wrong_shape, 1, 4}));
    EXPECT_EQ(reading<int>("- v\n").code, mistake::wrong_shape);
    EXPECT_EQ(reading<int>("v: '7'\n"), (finding{mistake::wrong_shape, 1, 4}));
    EXPECT_EQ(reading<int>("").code, mistake::wrong_shape);
}

TEST(Document, E09NamesTheMissingKey) {
    EXPECT_EQ(
        first("a: {b: 1}\n", [](config::node root) { root.at("a").at("c"), root.at("a").at("b"); }),
        (finding{mistake::missing_key, 1, 4}));
}

TEST(Document, E11SuggestsTheNearestKey) {
    const auto list = mistakes("  \nblokc: x\n", [](config::node root) {
        root.only({"block", "width"}, "a register file");
    });
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].text(),
              "board.yaml:2:1: E11 a register file has no key 'blokc'\n"
              "blokc: x\n"
              "^^^^^  did you mean 'block'?  (known: block, width)\n");
}

TEST(Document, E13FindsUnusedKeys) {
    EXPECT_EQ(first("a: 1\nb: 2\n", [](config::node root) { root.get<int>("a", 0); }),
              (finding{mistake::unused_key, 2, 1}));
}

TEST(Document, E20RequiresAUnit) {
    EXPECT_EQ(reading<bytes>("v: 64\n"), (finding{mistake::unit_missing, 1, 4}));
    EXPECT_EQ(reading<picoseconds>("v: 1.4\n"), (finding{mistake::unit_missing, 1, 4}));
}

TEST(Document, E21NamesTheUnitsOfTheQuantity) {
    const auto list = mistakes("v: 3 Kib\n", [](config::node root) { root.require<bytes>("v"); });
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::unknown_unit);
    EXPECT_THAT(list[0].suggestion, HasSubstr("'3 KiB'"));
    EXPECT_EQ(reading<picoseconds>("v: 3 GiB\n"), (finding{mistake::unknown_unit, 1, 4}));
}

TEST(Document, E22BoundsNumbers) {
    EXPECT_EQ(reading<std::uint8_t>("v: 256\n"), (finding{mistake::out_of_range, 1, 4}));
    EXPECT_EQ(reading<std::int8_t>("v: -129\n"), (finding{mistake::out_of_range, 1, 4}));
    EXPECT_EQ(reading<std::uint64_t>("v: 0x10000000000000000\n").code, mistake::out_of_range);
    EXPECT_EQ(reading<bytes>("v: 99999999 TiB\n").code, mistake::out_of_range);
}

TEST(Document, E23RefusesFractionsOfTheSmallestUnit) {
    EXPECT_EQ(reading<bytes>("v: 0.3 B\n"), (finding{mistake::not_whole, 1, 4}));
    EXPECT_EQ(reading<picoseconds>("v: 0.0001 ns\n"), (finding{mistake::not_whole, 1, 4}));
}

TEST(Document, E24RefusesTextWhereANumberIsExpected) {
    for (const char* text : {"v: x\n", "v: 0x\n", "v: 1.5\n", "v: 0b2\n", "v: 0b\n", "v: 7seven\n"})
        EXPECT_EQ(reading<int>(text), (finding{mistake::not_a_number, 1, 4})) << text;
    EXPECT_EQ(reading<bytes>("v: big\n").code, mistake::not_a_number);
    EXPECT_EQ(reading<bytes>("v: -1 GiB\n").code, mistake::not_a_number);
    EXPECT_EQ(reading<double>("v: nan\n").code, mistake::not_a_number);
}

TEST(Document, E24AcceptsGroupsOfDigitsOnly) {
    diagnostics problems;
    const auto document = config::document::parse(
        "a: 1_000\nb: 0xdead_beef\nc: 1_024.2_5 KiB\nd: 0b1_0\n", "v.yaml", problems);
    EXPECT_EQ(document.root().require<unsigned>("a"), 1000u);
    EXPECT_EQ(document.root().require<std::uint32_t>("b"), 0xdeadbeefu);
    EXPECT_EQ(document.root().require<bytes>("c").value, 1024u * 1024 + 256);
    EXPECT_EQ(document.root().require<unsigned>("d"), 2u);
    EXPECT_NO_THROW(problems.throw_if_any());
    for (const char* text : {"v: 1_\n", "v: _1\n", "v: 1__0\n", "v: 0x_1\n", "v: 0x1_\n"})
        EXPECT_EQ(reading<int>(text), (finding{mistake::not_a_number, 1, 4})) << text;
    for (const char* text : {"v: 1_ KiB\n", "v: 1_.5 KiB\n", "v: 1._5 KiB\n", "v: 1. KiB\n",
                             "v: 1.5_ KiB\n", "v: .5 KiB\n"})
        EXPECT_EQ(reading<bytes>(text), (finding{mistake::not_a_number, 1, 4})) << text;
}

TEST(Document, E22ReadsAllDigitsOfANumber) {
    const auto value = [](const std::string& text) {
        return std::get<std::uint64_t>(config::parse_unsigned(text));
    };
    const std::string zeros(100, '0');
    EXPECT_EQ(value(zeros + "7"), 7u);
    EXPECT_EQ(value("0x" + zeros + "7"), 7u);
    EXPECT_EQ(reading<std::uint64_t>("v: 1" + zeros + "\n"),
              (finding{mistake::out_of_range, 1, 4}));
    EXPECT_EQ(reading<std::uint64_t>("v: 1" + zeros + "x\n").code, mistake::not_a_number);
    EXPECT_EQ(reading<picoseconds>("v: 1000000000000000000 ns\n"),
              (finding{mistake::out_of_range, 1, 4}));
    EXPECT_EQ(reading<picoseconds>("v: 0.0000000000000000001 s\n"),
              (finding{mistake::out_of_range, 1, 4}));
    EXPECT_EQ(std::get<picoseconds>(config::parse_time("000000000000000000001 ns")).value, 1000u);
}

double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST(Document, UnknownKeysOfALongLineTakeLinearTime) {
    std::string text = "{";
    for (int i = 0; i < 99'000; ++i) text += "key_number_" + std::to_string(i) + ": 1, ";
    const auto start = processor_seconds();
    const auto list = mistakes(text + "}\n", [](config::node root) {
        root.only({"board", "description", "parameters", "modules", "bind"}, "a board");
    });
    EXPECT_LT(processor_seconds() - start, 5);  // 60 s when each report copied the line
    ASSERT_EQ(list.size(), 100u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::unknown_key, 1, 2}));
    EXPECT_LT(list[99].text().size(), 1000u);
}

TEST(Document, E06BoundsBracketsBeforeTheyTakeMemory) {
    for (const std::string each : {"[", "{", "[a,", "a,", "[\n", "{a: [", "\"\","}) {
        std::string text = "v: [";
        while (text.size() < 4'000'000) text += each;
        EXPECT_EQ(first(text, nothing).code, mistake::too_many_values) << each;
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        EXPECT_LT(used.ru_maxrss, 300'000) << each;  // KiB; up to 961 MB without the bound
    }
}

TEST(Document, E25AcceptsTrueAndFalseOnly) {
    EXPECT_EQ(reading<bool>("v: yes\n"), (finding{mistake::not_a_boolean, 1, 4}));
}

TEST(Document, E26ListsTheAllowedValues) {
    const auto list =
        mistakes("v: gren\n", [](config::node root) { root.require<config::color>("v"); });
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::not_a_choice);
    EXPECT_EQ(list[0].suggestion, "did you mean 'green'?  (known: red, green)");
}

TEST(Document, E27RefusesNamesThatAreNotIdentifiers) {
    for (const char* text : {"v: 0a\n", "v: 9a\n", "v: a-b\n", "v: ''\n", "v: 'a b'\n"})
        EXPECT_EQ(first(text, [](config::node root) { root.at("v").name(); }),
                  (finding{mistake::bad_name, 1, 4}))
            << text;
    EXPECT_EQ(first("? [a]\n: 1\n", nothing).code, mistake::bad_name);
}

TEST(Document, ReadsEveryValueType) {
    diagnostics problems;
    const auto document = config::document::parse(
        "i: 0x1_0000\nn: -5\nb: true\ns: 'x: y'\nsize: 36 GiB\nt: 1.4 us\nr: 38.4 GB/s\n"
        "bits: 100 Gbit/s\nl: 64 GT/s\nf: 1.4 GHz\nd: 0.25\nlist: [1, 2]\nc: green\n",
        "v.yaml", problems);
    const auto v = document.root();
    EXPECT_EQ(v.require<std::uint32_t>("i"), 0x10000u);
    EXPECT_EQ(v.require<int>("n"), -5);
    EXPECT_TRUE(v.require<bool>("b"));
    EXPECT_EQ(v.require<std::string>("s"), "x: y");
    EXPECT_EQ(v.require<bytes>("size").value, 36ull << 30);
    EXPECT_EQ(v.require<picoseconds>("t").value, 1'400'000u);
    EXPECT_EQ(v.require<data_rate>("r").bytes_per_second, 38'400'000'000u);
    EXPECT_EQ(v.require<data_rate>("bits").bytes_per_second, 12'500'000'000u);
    EXPECT_EQ(v.require<lane_rate>("l").transfers_per_second, 64'000'000'000u);
    EXPECT_EQ(v.require<hertz>("f").value, 1'400'000'000u);
    EXPECT_EQ(v.require<double>("d"), 0.25);
    EXPECT_EQ(v.require<std::vector<int>>("list"), (std::vector{1, 2}));
    EXPECT_EQ(v.require<config::color>("c"), config::color::green);
    EXPECT_EQ(v.get<int>("absent", 9), 9);
    document.reject_unused();
    EXPECT_NO_THROW(problems.throw_if_any());
}

TEST(Document, CollectsEveryMistakeOfAFileInOrder) {
    const auto list = mistakes("a: x\nb: 12\nc: 3\n", [](config::node root) {
        root.require<bytes>("b");
        root.require<int>("a");
        root.require<int>("d");
    });
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list[0].code, mistake::missing_key);
    EXPECT_EQ(list[1].code, mistake::not_a_number);
    EXPECT_EQ(list[2].code, mistake::unit_missing);
    EXPECT_EQ(list[3].code, mistake::unused_key);
}

TEST(Document, QuotesAnExcerptOfAVeryLongLine) {
    for (const std::size_t before : {0, 1'000, 10'000, 100'000})
        for (const std::size_t after : {0, 100'000}) {
            const auto list =
                mistakes("v: [" + std::string(before, ' ') + "x]" + std::string(after, ' ') + "\n",
                         [](config::node root) { root.require<std::vector<int>>("v"); });
            ASSERT_EQ(list.size(), 1u);
            EXPECT_LT(list[0].text().size(), 500u);
            EXPECT_LT(list[0].source_line.size(), 20'000u);
            EXPECT_THAT(list[0].text(), HasSubstr("x]"));
            EXPECT_THAT(list[0].text(), HasSubstr(":1:" + std::to_string(before + 5)));
        }
}

TEST(Diagnostics, DocumentationListsEveryCode) {
    std::ifstream file("doc/diagnostics.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& row : catalogue()) {
        char code[16];
        std::snprintf(code, sizeof code, "| E%02u |", static_cast<unsigned>(row.code));
        EXPECT_THAT(text, HasSubstr(std::string(code) + " " + std::string(row.title)));
    }
}

TEST(Units, UsualSpellingsLeadToTheUnit) {
    const auto hint = [](const char* text) {
        return std::get<config::refusal>(config::parse_bytes(text)).suggestion;
    };
    for (const auto* text : {"4KB", "4K", "4 kib", "4Ki", "4 k"})
        EXPECT_THAT(hint(text), HasSubstr("did you mean '4 KiB'?  (known: B, KiB, ")) << text;
    EXPECT_THAT(hint("1.5G"), HasSubstr("did you mean '1.5 GiB'?"));
    EXPECT_EQ(hint("4096"), "write a size like '4096 B' or '4096 KiB'");
    EXPECT_THAT(std::get<config::refusal>(config::parse_time("10 MS")).suggestion,
                HasSubstr("did you mean '10 ms'?"));
    EXPECT_THAT(std::get<config::refusal>(config::parse_time("5 minutes")).suggestion,
                testing::StartsWith("(known: ps, "));
}

TEST(Suggestions, NearestWordsComeFirst) {
    EXPECT_THAT(nearest_first("mian", {"reset", "exit", "main", "maintain"}),
                testing::ElementsAre("main", "exit", "maintain", "reset"));
}

TEST(Units, OfAddressSpacesReachSixtyFourBits) {
    EXPECT_EQ(std::get<bytes>(config::parse_bytes("2 PiB")).value, 2ull << 50);
    EXPECT_EQ(std::get<bytes>(config::parse_bytes("4 EiB")).value, 4ull << 60);
    EXPECT_EQ(reading<bytes>("v: 16 EiB\n").code, mistake::out_of_range);
}

TEST(Units, AreFormattedAsInBoardFiles) {
    EXPECT_EQ(to_string(bytes{36ull << 30}), "36 GiB");
    EXPECT_EQ(to_string(bytes{0}), "0 B");
    EXPECT_EQ(to_string(bytes{1500}), "1500 B");
    EXPECT_EQ(to_string(picoseconds{1'400'000}), "1400 ns");
    EXPECT_EQ(to_string(lane_rate{64'000'000'000}), "64 GT/s");
    EXPECT_EQ(to_string(data_rate{38'400'000'000}), "38400 MB/s");
}

}  // namespace
