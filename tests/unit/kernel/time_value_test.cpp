// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_value.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace trn;

TEST(TimeValueTest, ThePicosecondIsTheDefaultResolution) {
    require_picoseconds();
    EXPECT_EQ(in_picoseconds(sc_core::sc_time(3, sc_core::SC_NS)), 3000u);
    EXPECT_EQ(time_of_value(3000), sc_core::sc_time(3, sc_core::SC_NS));
}

TEST(TimeValueTest, AnotherResolutionOfScMainIsAFatalReport) {
    sc_core::sc_set_time_resolution(10, sc_core::SC_PS);
    sc_core::sc_report_handler::set_actions(resolution_type, sc_core::SC_FATAL, sc_core::SC_THROW);
    try {
        require_picoseconds();
        FAIL();
    } catch (const sc_core::sc_report& report) {
        EXPECT_EQ(report.get_severity(), sc_core::SC_FATAL);
        EXPECT_EQ(std::string(report.get_msg()),
                  "the time resolution is 10 ps, and the models count picoseconds: call "
                  "sc_set_time_resolution(1, SC_PS) in sc_main, or leave the default");
    }
}

TEST(TimeValueTest, MultiplesAreExactInsideAndOutsideTheirTables) {
    const auto& cycles = time_multiples::of_period(714);
    for (const std::uint64_t count : {0u, 1u, 255u, 256u, 257u, 131'071u, 131'072u, 4'000'000'000u})
        EXPECT_EQ(in_picoseconds(cycles.times(count)), count * 714) << count;
    EXPECT_EQ(&time_multiples::of_period(714), &cycles);
}

}  // namespace
