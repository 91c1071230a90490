// SPDX-License-Identifier: Apache-2.0
// Properties of the list of rules: ids are ordered, and each rule has a chapter in doc/rules.md, a
// scenario that violates it and a test that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "models/misuse_rules.h"

namespace {

using namespace trn;
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string constant_of(const std::string& name) {
    return std::regex_replace(name, std::regex("-"), "_");
}

TEST(MisuseRules, HaveConsecutiveIdsPerAreaAndUniqueNames) {
    std::map<std::string, int> last;
    std::set<std::string_view> names;
    for (const auto& rule : misuse::all_rules) {
        std::smatch parts;
        const std::string id(rule.id);
        ASSERT_TRUE(std::regex_match(id, parts, std::regex("TRN-([A-Z]{2,3})-([0-9]{3})"))) << id;
        EXPECT_EQ(std::stoi(parts[2]), ++last[parts[1]]) << id;
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    }
}

TEST(MisuseRules, EachConstantIsListedAndNamedAfterItsRule) {
    const auto source =
        text_of("models/misuse_rules.h") + text_of("platform/framework/registers/misuse_rules.h");
    const std::regex constant(R"re(constexpr rule (\w+)\{\s*"([^"]+)",\s*"([^"]+)")re");
    std::size_t found = 0;
    for (std::sregex_iterator at(source.begin(), source.end(), constant), end; at != end; ++at) {
        ASSERT_LT(found, misuse::all_rules.size());
        EXPECT_EQ((*at)[2].str(), misuse::all_rules[found].id) << "order of the list";
        EXPECT_EQ((*at)[1].str(), constant_of((*at)[3]));
        ++found;
    }
    EXPECT_EQ(found, misuse::all_rules.size());
}

TEST(MisuseRules, DocumentHasOneSectionPerRule) {
    const auto document = text_of("doc/rules.md");
    std::size_t sections = 0;
    for (auto at = document.find("\n### "); at != std::string::npos;
         at = document.find("\n### ", at + 1))
        ++sections;
    EXPECT_EQ(sections, misuse::all_rules.size());
    for (const auto& rule : misuse::all_rules) {
        const auto heading = "\n### " + std::string(rule.id) + " " + std::string(rule.name) + "\n";
        const auto begin = document.find(heading);
        ASSERT_NE(begin, std::string::npos) << heading;
        const auto section = document.substr(begin, document.find("\n#", begin + 1) - begin);
        for (const auto* part : {"\n- What: ", "\n- Why: ", "\n- Seen: ", "\n- Fix: "})
            EXPECT_NE(section.find(part), std::string::npos) << heading << part;
    }
}

/// The first group of each match of `expression` in the files of `folder` that end with
/// `extension`.
std::set<std::string> found_in(const fs::path& folder, const std::string& extension,
                               const std::regex& expression) {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != extension) continue;
        const auto text = text_of(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
            all.insert((*at)[1]);
    }
    return all;
}

TEST(MisuseRules, EachRuleIsBrokenByAScenario) {
    const auto broken = found_in("scenarios", ".yaml",
                                 std::regex(R"(misuse: ([\w-]+), (?:at_least|equals): [1-9])"));
    for (const auto& rule : misuse::all_rules)
        EXPECT_TRUE(broken.contains(std::string(rule.name))) << rule.id;
}

/// A scenario, or a test of a model, in which correct software near the limit is not reported.
TEST(MisuseRules, EachRuleHasASilentOpposite) {
    const auto scenarios =
        found_in("scenarios", ".yaml", std::regex(R"(misuse: ([\w-]+), equals: 0\})"));
    const auto tests = found_in("tests", ".cpp", std::regex(R"(misuse::(\w+)\), 0u\))"));
    for (const auto& rule : misuse::all_rules)
        EXPECT_TRUE(scenarios.contains(std::string(rule.name)) ||
                    tests.contains(constant_of(std::string(rule.name))))
            << rule.id;
}

}  // namespace
