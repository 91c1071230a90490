// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.h"

namespace trn::test {

/// Returns the output of `lspci -vv` for a configuration space.
inline std::string lspci(const std::vector<std::uint8_t>& space) {
    const scratch_folder folder;
    const auto path = folder / "dump";
    FILE* dump = fopen(path.c_str(), "w");
    fprintf(dump, "01:00.0 a device\n");
    for (std::size_t i = 0; i < space.size(); ++i) {
        if (i % 16 == 0) fprintf(dump, "%02zx:", i);
        fprintf(dump, " %02x%s", space[i], i % 16 == 15 ? "\n" : "");
    }
    fclose(dump);
    FILE* output = popen(("lspci -nn -vv -F " + path + " 2>/dev/null").c_str(), "r");
    std::string text;
    for (char line[256]; fgets(line, sizeof line, output) != nullptr;) text += line;
    EXPECT_EQ(pclose(output), 0);
    return text;
}

}  // namespace trn::test
