// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/guest/machine.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {

/// Tests of guests with programs unpacked by a script of platform/app/guest; skipped with a reason
/// if these or QEMU are not available.
class tooled_guest : public testing::Test {
protected:
    /// `kind`: efa, ena or nvme. `needed`: a file that the script creates in the folder of the
    /// tools. `purpose`: text for the reason of a skipped test.
    tooled_guest(std::string kind, std::string needed, std::string purpose)
        : kind_(std::move(kind)), needed_(std::move(needed)), what_(std::move(purpose)) {}

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
    /// Options of `trnvp guest` that run `script` with the unpacked programs installed in the
    /// guest.
    std::string running(const std::string& script) const {
        std::ofstream(folder / "script") << "#!/bin/sh\ncp -a /program/root/. /\n" << script;
        return " --run " + tools + "/" + kind_ + "/root --run " + (folder / "script") + " ";
    }

    /// A fault to inject after a guest has printed `when`.
    struct injection {
        std::string when, module, fault, arguments = "";
    };
    /// Runs `guests`, a shell command whose platform listens in `folder`, and injects the faults in
    /// order.
    ended run_with_faults(const std::string& guests, const std::vector<injection>& faults) const {
        const auto log = folder / "log";
        std::ofstream script(folder / "host");
        script << "(" << guests << ") >" << log << " 2>&1 &\np=$!\n";
        for (const injection& each : faults)
            script << "until grep -q '" << each.when << "' " << log
                   << "; do kill -0 $p 2>/dev/null || break; sleep 0.1; done\n"
                      "python3 -c 'import sys; sys.path.insert(0, \"sw-stubs/python\"); "
                      "import trnvp_control; trnvp_control.connect(\""
                   << (folder / "control.sock") << "\").inject(\"" << each.module << "\", \""
                   << each.fault << "\"" << each.arguments << ")'\n";
        script << "wait $p; status=$?\ncat " << log << "\nexit $status\n";
        script.close();
        return run("sh " + (folder / "host"));
    }
    /// For scripts of guests: `seen TEXT` waits for a message of the kernel.
    static constexpr const char* seen = R"sh(seen() {
    for try in $(seq 200); do dmesg | grep -q "$1" && return 0; sleep 0.3; done
    echo "no message: $1"; dmesg | tail -n 20; exit 9
}
)sh";

    const std::string tools = guest_tools::folder();
    scratch_folder folder;

private:
    const std::string kind_, needed_, what_;
};

}  // namespace trn::test
