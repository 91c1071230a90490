// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/parameters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "platform/framework/inspection/attributes.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/inspection/sample_board.h"

namespace {

using namespace trn;
using nlohmann::json;
using source = parameter_origin::source;
using testing::ElementsAre;
using testing::HasSubstr;

/// Line and column of a text in the sample board, from 1.
std::pair<int, int> place_of(const std::string& text, const std::string& board) {
    const auto at = board.find(text);
    const auto start = board.rfind('\n', at);
    return {
        static_cast<int>(std::count(board.begin(), board.begin() + static_cast<long>(at), '\n')) +
            1,
        static_cast<int>(at - start)};
}

TEST(Parameters, HaveTheNamesTypesAndValuesOfTheTables) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    const auto value = [&](const char* name) { return broker.get_param_handle(name)->value(); };
    EXPECT_EQ(value("ram0.size"), 65536u);
    EXPECT_EQ(value("ram1.read_only"), true);
    EXPECT_EQ(value("noc.hop_latency"), 2000u);
    EXPECT_EQ(value("dev.paint"), "green");
    EXPECT_EQ(value("dev.factor"), -1.25);
    EXPECT_EQ(value("dev.weights"), json({3, 4}));
    EXPECT_EQ(value("dev.sizes"), json::array());
    EXPECT_EQ(value("dev.clock"), 1'400'000'000u);
    EXPECT_EQ(value("weight"), 4u);
    const auto size = *broker.get_param_handle("ram0.size");
    EXPECT_EQ(size.type(), "size");
    EXPECT_EQ(size.unit(), "B");
    EXPECT_EQ(size.text(), "64 KiB");
    EXPECT_EQ(size.description(), "capacity; costs host memory when touched");
    EXPECT_EQ(size.owner_type(), "memory");
    EXPECT_FALSE(size.is_mutable());
}

TEST(Parameters, HaveADefaultUnlessBoardsMustGiveThem) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    EXPECT_EQ(broker.get_param_handle("ram0.size")->default_text(), std::nullopt);
    EXPECT_TRUE(broker.get_param_handle("ram0.size")->default_value().is_null());
    EXPECT_FALSE(broker.get_param_handle("ram0.size")->is_default_value());
    EXPECT_EQ(broker.get_param_handle("dev.queues")->default_value(), 16u);
    EXPECT_TRUE(broker.get_param_handle("dev.queues")->is_default_value());
    EXPECT_FALSE(broker.get_param_handle("dev.paint")->is_default_value());
}

TEST(Parameters, AreListedByModule) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    const auto names = [&](std::string_view module, bool inside) {
        std::vector<std::string> all;
        for (const auto& each : broker.get_param_handles(module, inside))
            all.push_back(each.name());
        return all;
    };
    EXPECT_THAT(names("", false), ElementsAre("product", "room", "weight"));
    EXPECT_THAT(names("", true), testing::IsSupersetOf({"weight", "noc.hop_latency", "dev.paint"}));
    EXPECT_THAT(names("ram1", true), testing::Each(testing::StartsWith("ram1.")));
    EXPECT_TRUE(names("nothing", true).empty());
    EXPECT_FALSE(broker.get_param_handle("ram0.colour"));
    EXPECT_FALSE(broker.get_param_handle("ram9.size"));
    EXPECT_FALSE(broker.get_param_handle(".room"));
    EXPECT_TRUE(broker.has_module("ram1"));
    EXPECT_FALSE(broker.has_module("ram1.size"));
}

TEST(Parameters, KnowTheModuleAroundTheBoard) {
    const auto board = test::sample_board();
    const parameter_broker broker(board, "testbench.rack");
    EXPECT_EQ(broker.get_param_handle("testbench.rack.ram0.size")->name(),
              "testbench.rack.ram0.size");
    EXPECT_EQ(broker.get_param_handle("testbench.rack.room")->value(), 65536u);
    EXPECT_FALSE(broker.get_param_handle("ram0.size"));
    EXPECT_EQ(broker.get_value_origin("testbench.rack.dev.paint").given_by, source::setting);
}

TEST(Parameters, KnowTheirPlaceInTheFile) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    const auto origin = broker.get_value_origin("dev.latency");
    EXPECT_EQ(origin.given_by, source::setting);
    EXPECT_EQ(origin.file, "pair.yaml");
    EXPECT_EQ(std::pair(origin.line, origin.column), place_of("7 ns", test::sample_board_text));
    EXPECT_EQ(origin.written, "7 ns");
    EXPECT_EQ(broker.get_value_origin("dev.queues").given_by, source::kind_default);
}

TEST(Parameters, OfInstancesKnowTheirItemOfAList) {
    const auto board = test::sample_board();
    const auto origin = parameter_broker(board).get_value_origin("ram1.read_only");
    EXPECT_EQ(origin.given_by, source::setting);
    EXPECT_EQ(std::pair(origin.line, origin.column), place_of("true]", test::sample_board_text));
}

TEST(Parameters, NameTheParameterThatTheirFileRefersTo) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    const auto origin = broker.get_value_origin("ram0.size");
    EXPECT_EQ(origin.written, "${room}");
    EXPECT_THAT(broker.referenced(*broker.get_param_handle("ram0.size"), origin),
                ElementsAre("room"));
}

TEST(Parameters, OfTheBoardAreDefaultsPresetsOrFromTheCommandLine) {
    const auto board = test::sample_board({.boards = {}, .set = {"product=large"}});
    const parameter_broker broker(board);
    const auto product = broker.get_value_origin("product");
    EXPECT_EQ(product.given_by, source::command_line);
    EXPECT_EQ(product.written, "product=large");
    EXPECT_EQ(product.default_text, "small");
    const auto room = broker.get_value_origin("room");
    EXPECT_EQ(room.given_by, source::preset);
    EXPECT_EQ(room.written, "product=large");
    EXPECT_EQ(room.text, "1 MiB");
    EXPECT_EQ(room.default_text, "64 KiB");
    const auto weight = broker.get_value_origin("weight");
    EXPECT_EQ(weight.given_by, source::file_default);
    EXPECT_EQ(std::pair(weight.line, weight.column),
              place_of("weight: 3", test::sample_board_text));
    EXPECT_TRUE(broker.has_preset_value("room"));
    EXPECT_EQ(broker.get_preset_value("room"), 1u << 20);
    EXPECT_FALSE(broker.has_preset_value("weight"));
    EXPECT_EQ(broker.get_preset_value("weight"), std::nullopt);
}

TEST(Parameters, ThatAProgramHasChangedSaySo) {
    auto board = test::sample_board();
    std::any_cast<memory::config>(&board.modules[board.index_of("ram0")].config)->size = 4096;
    const auto origin = parameter_broker(board).get_value_origin("ram0.size");
    EXPECT_EQ(origin.given_by, source::program);
    EXPECT_EQ(origin.text, "4 KiB");
}

TEST(Parameters, OfABoardWhoseFileHasChangedHaveNoOrigin) {
    const test::scratch_folder folder;
    const auto file = folder / "pair.yaml";
    std::ofstream(file) << test::sample_board_text;
    const auto board = plan_board(file, test::sample_kinds(), {});
    const parameter_broker broker(board);
    EXPECT_EQ(broker.get_value_origin("dev.latency").given_by, source::setting);
    auto changed = test::sample_board_text;
    changed.replace(changed.find("7 ns"), 4, "8 ns");
    std::ofstream(file) << changed;
    EXPECT_THROW(broker.get_value_origins("dev"), std::runtime_error);
    changed = test::sample_board_text;  // a value that reaches no kind
    changed.replace(changed.find("product: small"), 14, "product: plain");
    changed.replace(changed.find("    small:"), 10, "    plain:");
    std::ofstream(file) << changed;
    EXPECT_THROW(broker.get_value_origins("product"), std::runtime_error);
    std::ofstream(file) << "board: [";
    EXPECT_THROW(broker.get_value_origins("dev"), config_error);
}

/// The text at an origin's place, with the file's parameters written out, is the value: on a whole
/// chip, all of whose parameters are asked.
TEST(Parameters, OfAChipHaveTheValueThatIsWrittenAtTheirPlace) {
    const auto board = load_board("trn3-chip", kinds());
    const parameter_broker broker(board);
    const auto origins = broker.get_value_origins("");
    const auto all = broker.get_param_handles();
    ASSERT_GT(all.size(), 500u);
    std::size_t plain = 0;
    for (const auto& each : all) {
        const auto found = origins.find(each.name());
        ASSERT_NE(found, origins.end()) << each.name();
        const auto& origin = found->second;
        EXPECT_EQ(origin.text, each.text()) << each.name();
        EXPECT_NE(origin.given_by, source::program) << each.name();
        if (origin.given_by == source::kind_default) {
            EXPECT_TRUE(each.is_default_value()) << each.name();
        }
        if (origin.given_by != source::setting || origin.written.empty() ||
            origin.written.find('$') != std::string::npos || origin.written.starts_with("first: "))
            continue;
        ++plain;
        EXPECT_EQ(parameter_value(each.type(), origin.written), each.value()) << each.name();
    }
    EXPECT_GT(plain, 30u);
}

TEST(Parameters, AsJsonHaveAllOfThis) {
    const auto board = test::sample_board();
    const parameter_broker broker(board);
    const auto row =
        to_json(broker, *broker.get_param_handle("ram0.size"), broker.get_value_origins(""));
    EXPECT_EQ(row["name"], "ram0.size");
    EXPECT_EQ(row["value"], 65536);
    EXPECT_EQ(row["text"], "64 KiB");
    EXPECT_EQ(row["mutable"], false);
    EXPECT_FALSE(row.contains("default"));
    EXPECT_EQ(row["origin"]["by"], "file");
    EXPECT_EQ(row["origin"]["written"], "${room}");
    EXPECT_EQ(row["origin"]["parameters"], json({"room"}));
    const auto room =
        to_json(broker, *broker.get_param_handle("room"), broker.get_value_origins(""));
    EXPECT_EQ(room["default"], 65536);
    EXPECT_EQ(room["origin"]["by"], "default of the file");
}

template <class T>
const T& attribute(const char* module, const char* name) {
    auto* const found = sc_core::sc_find_object(module)->get_attribute(name);
    return dynamic_cast<sc_core::sc_attribute<T>&>(*found).value;
}

TEST(Attributes, OfModulesArePublishedOnRequestOnly) {
    const trn::system built(test::sample_board());
    auto* const dev = sc_core::sc_find_object("dev");
    EXPECT_EQ(dev->num_attributes(), 0);
    {
        const published_attributes published(parameter_broker(built.board()), "");
        EXPECT_EQ(attribute<sc_dt::uint64>("ram0", "size"), 65536u);
        EXPECT_EQ(attribute<bool>("ram1", "read_only"), true);
        EXPECT_EQ(attribute<sc_core::sc_time>("dev", "latency"),
                  sc_core::sc_time(7, sc_core::SC_NS));
        EXPECT_EQ(attribute<double>("dev", "factor"), -1.25);
        EXPECT_EQ(attribute<std::string>("dev", "paint"), "green");
        EXPECT_EQ(attribute<std::string>("dev", "weights"), "[3, 4]");
        EXPECT_EQ(attribute<std::string>("dev", "type"), "gadget");
    }
    EXPECT_EQ(dev->num_attributes(), 0);
}

TEST(Attributes, MayEndAfterTheirModules) {
    auto built = std::make_unique<trn::system>(test::sample_board());
    const published_attributes published(parameter_broker(built->board()), "dev");
    EXPECT_GT(published.size(), 5u);
    built.reset();
}

}  // namespace
