// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace trn::test {

/// What `lspci -vv` makes of a configuration space, from a dump in its own format.
inline std::string lspci(const std::vector<std::uint8_t>& space) {
    char path[] = "/tmp/trnvp-lspci-XXXXXX";
    FILE* dump = fdopen(mkstemp(path), "w");
    fprintf(dump, "01:00.0 a device\n");
    for (std::size_t i = 0; i < space.size(); ++i) {
        if (i % 16 == 0) fprintf(dump, "%02zx:", i);
        fprintf(dump, " %02x%s", space[i], i % 16 == 15 ? "\n" : "");
    }
    fclose(dump);
    FILE* output = popen(("lspci -nn -vv -F " + std::string(path) + " 2>/dev/null").c_str(), "r");
    std::string text;
    for (char line[256]; fgets(line, sizeof line, output) != nullptr;) text += line;
    EXPECT_EQ(pclose(output), 0);
    unlink(path);
    return text;
}

}  // namespace trn::test
