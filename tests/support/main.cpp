// SPDX-License-Identifier: Apache-2.0
// The main function of every test executable. SystemC elaborates once per process, so CTest starts
// each TEST in its own process; started manually with several tests, this program re-executes
// itself for each.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <systemc>
#include <vector>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/base_protocol.h"

namespace {

std::vector<std::string> selected_tests() {
    std::vector<std::string> names;
    const auto* unit = testing::UnitTest::GetInstance();
    for (int s = 0; s < unit->total_test_suite_count(); ++s) {
        const auto* suite = unit->GetTestSuite(s);
        for (int t = 0; t < suite->total_test_count(); ++t) {
            const auto* test = suite->GetTestInfo(t);
            if (test->should_run())
                names.push_back(std::string(suite->name()) + "." + test->name());
        }
    }
    return names;
}

bool run_in_child(const char* self, const std::string& test) {
    const pid_t child = fork();
    if (child == 0) {
        const std::string filter = "--gtest_filter=" + test;
        execl(self, self, filter.c_str(), "--gtest_brief=1", nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// CTest's limit of processor time. Set here, because to start each test by prlimit takes as long
/// as a quick test.
void limit_processor_time() {
    const char* const seconds = std::getenv("TRNVP_TEST_SECONDS");
    if (seconds == nullptr) return;
    const rlim_t limit = std::stoul(seconds);
    const rlimit both{limit, limit};
    setrlimit(RLIMIT_CPU, &both);
}

/// Programs that tests start inherit the standard streams only: some tests limit the number of open
/// files.
void hide_inherited_files() {
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

}  // namespace

int sc_main(int argc, char** argv) {
    trn::misuse::set_rules(trn::misuse::all_rules);
    // Each violation of the base protocol is a SystemC warning.
    trn::base_protocol::set_policy(trn::base_protocol::policy::fail);
    // A SystemC warning (unbound port, lost notification) is a defect of the project and fails the
    // test.
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING,
                                            sc_core::SC_DISPLAY | sc_core::SC_THROW);
    testing::InitGoogleTest(&argc, argv);
    const bool runs_one_test = GTEST_FLAG_GET(filter).find_first_of("*:?") == std::string::npos;
    if (runs_one_test || GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();

    // should_run() is valid only after a pass over the filter: list the tests silently, then
    // re-execute each.
    testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
    int failed = 0;
    std::vector<std::string> tests;
    {
        GTEST_FLAG_SET(repeat, 0);
        if (RUN_ALL_TESTS() == 0) tests = selected_tests();
    }
    for (const auto& test : tests) failed += run_in_child("/proc/self/exe", test) ? 0 : 1;
    std::cout << tests.size() - static_cast<std::size_t>(failed) << " passed, " << failed
              << " failed\n";
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
    limit_processor_time();
    hide_inherited_files();
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
