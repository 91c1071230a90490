// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "tests/support/fuzz.h"

namespace trn::test {

/// A language based on YAML, for fuzz_yaml().
struct yaml_language {
    std::vector<std::string> seeds;  ///< inputs in addition to files; may be invalid
    std::vector<std::string> roots;  ///< folders with files of the language
    std::string_view ending;
    std::vector<std::string> words;
};

/// The main function of a fuzz target of YAML files: `read` accepts a text or throws a config_error
/// with places.
inline int fuzz_yaml(int argc, char** argv, yaml_language language,
                     const std::function<void(const std::string&)>& read) {
    for (const auto* text : {"", "{}", "[]"}) language.seeds.emplace_back(text);
    for (auto& text : file_texts(language.roots, language.ending))
        language.seeds.push_back(std::move(text));
    for (const auto* sign : {"-1",
                             "0xffffffffffffffff",
                             "9223372036854775807 B",
                             "4 GiB",
                             "1e9",
                             "${",
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
                             "\xc3"})
        language.words.emplace_back(sign);
    const mutator inputs(std::move(language.seeds), std::move(language.words));
    return fuzz(argc, argv, [&](fuzz_random& random) {
        try {
            read(inputs.make(random));
        } catch (const config_error& error) {
            if (error.list().empty() || std::string_view(error.what()).empty()) std::abort();
        }
    });
}

}  // namespace trn::test
