// SPDX-License-Identifier: Apache-2.0
// Compiled where Accellera's CCI is installed.
#include <gmock/gmock.h>

#include "platform/framework/inspection/cci/cci_parameters.h"
#include "platform/framework/netlist/system.h"
#include "tests/unit/inspection/sample_board.h"

namespace {

using namespace trn;
using testing::ElementsAre;

class CciParameters : public testing::Test {
protected:
    static cci::cci_broker_handle registered(cci::cci_broker_if& broker) {
        cci::cci_register_broker(broker);
        return cci::cci_get_global_broker(cci::cci_originator("a testbench"));
    }

    cci_utils::broker own_{"broker of a testbench"};
    cci::cci_broker_handle broker_ = registered(own_);
};

TEST_F(CciParameters, AreRegisteredAtTheBrokerOfTheTestbench) {
    const trn::system built(test::sample_board());
    const parameter_broker own(built.board());
    const cci_parameters published(own, broker_);
    EXPECT_EQ(published.size(), own.get_param_handles().size());
    EXPECT_EQ(broker_.get_param_handles().size(), published.size());
    const auto size = broker_.get_param_handle("ram0.size");
    ASSERT_TRUE(size.is_valid());
    EXPECT_EQ(size.get_cci_value().get_uint64(), 65536u);
    EXPECT_EQ(size.get_mutable_type(), cci::CCI_IMMUTABLE_PARAM);
    EXPECT_EQ(size.get_description(), "capacity; costs host memory when touched");
    cci::cci_param_typed_handle<sc_core::sc_time> latency(broker_.get_param_handle("dev.latency"));
    EXPECT_EQ(latency.get_value(), sc_core::sc_time(7, sc_core::SC_NS));
    EXPECT_FALSE(latency.is_default_value());
    EXPECT_TRUE(broker_.get_param_handle("dev.queues").is_default_value());
    cci::cci_param_typed_handle<std::vector<cci::uint64>> weights(
        broker_.get_param_handle("dev.weights"));
    EXPECT_THAT(weights.get_value(), ElementsAre(3u, 4u));
}

TEST_F(CciParameters, KnowThePlaceOfTheirValue) {
    const trn::system built(test::sample_board());
    const cci_parameters published(parameter_broker(built.board()), broker_, "dev");
    const std::string origin = broker_.get_preset_value_origin("dev.latency").name();
    EXPECT_THAT(origin, testing::StartsWith("pair.yaml:11:"));
}

TEST_F(CciParameters, OfAnotherPresetKeepTheValueOfTheBoard) {
    broker_.set_preset_cci_value("ram0.size", cci::cci_value(cci::uint64{4096}));
    sc_core::sc_report_handler::set_actions("/trn/parameters/preset", sc_core::SC_DO_NOTHING);
    const trn::system built(test::sample_board());
    const cci_parameters published(parameter_broker(built.board()), broker_);
    EXPECT_EQ(broker_.get_param_handle("ram0.size").get_cci_value().get_uint64(), 65536u);
    EXPECT_EQ(sc_core::sc_report_handler::get_count("/trn/parameters/preset"), 1);
}

TEST_F(CciParameters, EndWithTheirObject) {
    const trn::system built(test::sample_board());
    { const cci_parameters published(parameter_broker(built.board()), broker_); }
    EXPECT_TRUE(broker_.get_param_handles().empty());
}

TEST_F(CciParameters, OfTheBoardMayBeGivenByPresets) {
    broker_.set_preset_cci_value("room", cci::cci_value("128 KiB"));
    broker_.set_preset_cci_value("weight", cci::cci_value(9));
    const auto given = board_settings(broker_, {"product", "room", "weight"});
    EXPECT_THAT(given, ElementsAre("room=128 KiB", "weight=9"));
    const auto board = test::sample_board({.boards = {}, .set = given});
    EXPECT_EQ(parameter_broker(board).get_param_handle("ram0.size")->value(), 131072u);
}

}  // namespace
