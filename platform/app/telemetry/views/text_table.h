// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trn::telemetry {

/// A table with borders of + - |, two centred lines of heads, and cells aligned left.
class text_table {
public:
    /// `head`: its lines are separated by a line end.
    void add_column(const std::string& head);
    /// Cells may be names from outside. `colour`: of the row, for a terminal: the parameters of
    /// SGR, as "31"; "": none. Cells of a row that are missing are empty.
    void add_row(std::vector<std::string> cells, std::string colour = {});
    /// A border before the next row.
    void add_border();
    /// Lines are cut after `columns` columns; 0: never.
    std::string text(std::size_t columns = 0, bool coloured = false) const;

private:
    struct row {
        std::vector<std::string> cells;  // none: a border
        std::string colour;
    };
    std::vector<std::vector<std::string>> heads_;
    std::vector<row> rows_;
};

}  // namespace trn::telemetry
