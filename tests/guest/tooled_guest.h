// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "platform/app/guest/machine.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {

/// Tests with guests that run a script and programs which a script of platform/app/guest has
/// unpacked; skipped, with its reason, where these or QEMU are not available.
class tooled_guest : public testing::Test {
protected:
    /// `kind`: efa, ena or nvme. `needed`: what the script makes, in the folder of the tools.
    /// `what`: for the reason of a skipped test.
    tooled_guest(std::string kind, std::string needed, std::string what)
        : kind_(std::move(kind)), needed_(std::move(needed)), what_(std::move(what)) {}

    void SetUp() override {
        try {
            guest_tools::find("qemu-system-x86_64");
        } catch (const tools_missing& why) {
            GTEST_SKIP() << why.what();
        }
        if (std::filesystem::exists(tools + "/" + needed_)) return;
        std::string why = "run ./dev setup";
        std::ifstream reason(tools + "/" + kind_ + "-missing");
        std::getline(reason, why);
        GTEST_SKIP() << "no " << what_ << " for guests: " << why;
    }
    /// Options of `trnvp guest` that run `script` with the programs in the guest's path.
    std::string running(const std::string& script) const {
        std::ofstream(folder / "script") << "#!/bin/sh\ncp -a /program/root/. /\n" << script;
        return " --run " + tools + "/" + kind_ + "/root --run " + (folder / "script") + " ";
    }

    const std::string tools = guest_tools::folder();
    scratch_folder folder;

private:
    const std::string kind_, needed_, what_;
};

}  // namespace trn::test
