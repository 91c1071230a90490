// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rows.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trn::test {

int report(const std::vector<bench_row>& rows, int argc, char** argv) {
    auto list = nlohmann::json::array();
    for (const auto& r : rows) {
        nlohmann::json row{{"name", r.name},
                           {"value", r.value},
                           {"unit", r.unit},
                           {"goal", r.goal},
                           {"peer", r.peer}};
        row["met"] = r.met ? nlohmann::json(*r.met) : nlohmann::json();
        row["peer_value"] = r.peer_value ? nlohmann::json(*r.peer_value) : nlohmann::json();
        row["ratio"] = r.peer_value ? nlohmann::json(r.value / *r.peer_value) : nlohmann::json();
        list.push_back(row);
    }
    if (argc == 3 && std::strcmp(argv[1], "--json") == 0)
        std::ofstream(argv[2]) << list.dump(1) << "\n";
    else
        std::printf("%s\n", list.dump(1).c_str());
    return 0;
}

}  // namespace trn::test
