// SPDX-License-Identifier: Apache-2.0
// Checks doc/generations.md against the boards.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/boards.h"

namespace {

using namespace trn;

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> list;
    for (std::size_t at = 1, end; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
        const auto first = line.find_first_not_of(' ', at);
        const auto last = line.find_last_not_of(' ', end - 1);
        list.push_back(first < end ? line.substr(first, last - first + 1) : "");
    }
    return list;
}

/// The rows of the checked table, starting with its header.
std::vector<std::vector<std::string>> checked_table() {
    std::ifstream page("doc/generations.md");
    std::vector<std::vector<std::string>> rows;
    std::string line;
    while (std::getline(page, line) && !line.starts_with("<!-- checked")) {
    }
    while (std::getline(page, line) && !line.starts_with("<!-- end"))
        if (line.starts_with("|") && !line.starts_with("|--")) rows.push_back(cells(line));
    return rows;
}

/// Properties of the first chip of a board, by their names in the table.
class chip_facts {
public:
    explicit chip_facts(const std::string& board) : board_(load_board(board, kinds())) {
        for (const auto& module : board_.modules) {
            if (module.path == "chip0") values_["generation"] = parameter(module, "generation");
            if (!module.path.starts_with("chip0.") || module.built_as == nullptr) continue;
            ++counts_[module.type];
            if (module.type == "udma") engines_ += std::stoul(parameter(module, "engines"));
            for (const auto& [name, value] : board_.parameters_of(module))
                values_.emplace(module.type + "." + name, value);
        }
    }
    std::string operator[](const std::string& word) const {
        if (word == "engines") return std::to_string(engines_);
        if (const auto count = counts_.find(word); count != counts_.end())
            return std::to_string(count->second);
        for (const auto& key : {word, "pcie_endpoint." + word, "neuron_core." + word})
            if (const auto found = values_.find(key); found != values_.end()) return found->second;
        return "nothing of this name";
    }

private:
    std::string parameter(const plan::module& module, std::string_view name) const {
        for (const auto& [key, value] : board_.parameters_of(module))
            if (key == name) return value;
        return "";
    }
    plan board_;
    std::map<std::string, unsigned> counts_;
    std::map<std::string, std::string> values_;
    unsigned long engines_ = 0;
};

TEST(Generations, DocumentationMatchesTheBoards) {
    const auto rows = checked_table();
    ASSERT_GT(rows.size(), 10u);
    const std::map<std::string, std::string> boards{{"Trainium3", "trn3-chip"},
                                                    {"Trainium2", "trn2-chip"},
                                                    {"Trainium1", "trn1-chip"},
                                                    {"Inferentia2", "inf2-chip"}};
    ASSERT_EQ(rows[0].size(), boards.size() + 1);
    for (std::size_t column = 1; column < rows[0].size(); ++column) {
        const chip_facts chip(boards.at(rows[0][column]));
        for (std::size_t row = 1; row < rows.size(); ++row)
            EXPECT_EQ(rows[row].at(column), chip[rows[row][0]])
                << rows[0][column] << ": " << rows[row][0];
    }
}

TEST(Generations, SimulatorBoardsDifferInRevisionAndBarsOnly) {
    for (const std::string board : {"trn3-chip", "trn2-chip", "trn1-chip", "inf2-chip"}) {
        const auto silicon = load_board(board, kinds()),
                   simulator = load_board(board + "-sim", kinds());
        ASSERT_EQ(silicon.modules.size(), simulator.modules.size()) << board;
        for (std::size_t i = 0; i < silicon.modules.size(); ++i) {
            const auto &a = silicon.modules[i], &b = simulator.modules[i];
            EXPECT_EQ(a.path, b.path);
            if (a.built_as == nullptr) continue;
            const auto before = silicon.parameters_of(a), after = simulator.parameters_of(b);
            for (std::size_t p = 0; p < before.size(); ++p) {
                if (before[p] == after[p]) continue;
                EXPECT_THAT(before[p].first,
                            testing::AnyOf("revision", "revision_id", "register_bar", "bar4_size"))
                    << a.path;
            }
        }
    }
}

}  // namespace
