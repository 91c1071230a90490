// SPDX-License-Identifier: Apache-2.0
// What tools of the SystemC community see of a whole platform (doc/inspection.md).
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "platform/app/platform.h"
#include "platform/framework/inspection/register_trace.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/log.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using rpc::json;
using testing::HasSubstr;

const sc_core::sc_time second(1, sc_core::SC_SEC);

/// Keeps the notifications of a topic.
class subscriber final : public rpc::caller {
public:
    void notify(std::string_view, const json& params) override { events.push_back(params); }
    std::vector<json> events;
};

/// A process of a foreign model that reports once, at 5 us.
void report_later(const std::function<void()>& report) {
    sc_core::sc_spawn(
        [report] {
            sc_core::wait(5, sc_core::SC_US);
            report();
        },
        "foreign");
}

run_loop::goal until_20_us() {
    return {
        .waiter = "test", .condition_text = "20 us", .until = sc_core::sc_time(20, sc_core::SC_US)};
}

TEST(Inspection, ReportsOfForeignModelsReachClientsOfTheControlSocket) {
    log::replace_sink({});
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DISPLAY);
    platform board(kinds(), {.board = "trn3-chip"});
    subscriber client;
    board.methods().subscribe(client, {"log"});
    report_later([] { SC_REPORT_WARNING("/uart/overrun", "a byte is lost"); });
    board.loop().run(until_20_us());
    const auto found = std::ranges::find_if(
        client.events, [](const json& event) { return event.contains("report"); });
    ASSERT_NE(found, client.events.end());
    EXPECT_EQ((*found)["severity"], "warning");
    EXPECT_EQ((*found)["time_ps"], 5'000'000);
    EXPECT_EQ((*found)["text"], "a byte is lost");
    EXPECT_EQ((*found)["report"]["type"], "/uart/overrun");
    EXPECT_EQ((*found)["report"]["file"], "inspection_test.cpp");
    board.methods().forget(client);
}

TEST(Inspection, ErrorsOfForeignModelsEndARunWithASentence) {
    log::replace_sink({});
    platform board(kinds(), {.board = "trn3-chip"});
    report_later([] { SC_REPORT_FATAL("/uart/overrun", "cannot go on"); });
    try {
        board.loop().run(until_20_us());
        FAIL() << "the run goes on";
    } catch (const sc_core::sc_report& ended) {
        EXPECT_THAT(log::sentence(ended),
                    HasSubstr("error at 5 us: foreign: /uart/overrun: cannot go on (inspection"));
    }
}

TEST(Inspection, AModelThatStopsTheSimulationEndsTheRun) {
    log::replace_sink({});
    platform board(kinds(), {.board = "trn3-chip"});
    report_later([] { sc_core::sc_stop(); });
    const auto end = board.loop().run(until_20_us());
    EXPECT_EQ(end.cause, stop_reason::kind::quit);
    EXPECT_THAT(end.text, HasSubstr("sc_stop()"));
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(5, sc_core::SC_US));
}

TEST(Inspection, AModelThatStopsTheSimulationEndsARunThatWritesWaveforms) {
    log::replace_sink({});
    const test::scratch_folder folder;
    platform board(kinds(),
                   {.board = "trn3-chip", .waves = {folder / "run.vcd", {"chip0.hbm0.error"}}});
    report_later([] { sc_core::sc_stop(); });
    EXPECT_EQ(board.loop().run(until_20_us()).cause, stop_reason::kind::quit);
}

TEST(Inspection, ParametersOfTheBoardHaveTheirOriginInTheControlMethod) {
    log::replace_sink({});
    platform board(kinds(), {.board = "trn3-chip", .set = {"devices=1"}});
    const auto ask = [&](const json& params) { return board.methods().call("parameters", params); };
    const auto own = ask(json::object());
    const auto devices =
        std::ranges::find_if(own, [](const json& row) { return row["name"] == "devices"; });
    ASSERT_NE(devices, own.end());
    EXPECT_EQ((*devices)["value"], 1);
    EXPECT_EQ((*devices)["origin"]["by"], "command line");
    EXPECT_EQ((*devices)["origin"]["written"], "devices=1");

    const auto size = ask({{"name", "chip0.hbm0.size"}});
    ASSERT_EQ(size.size(), 1u);
    EXPECT_EQ(size[0]["type"], "size");
    EXPECT_EQ(size[0]["unit"], "B");
    const std::string file = size[0]["origin"]["file"];
    EXPECT_THAT(file, HasSubstr("chips/"));
    std::ifstream text(file);
    std::string line;
    for (int n = 0; n < size[0]["origin"]["line"]; ++n) std::getline(text, line);
    const std::string written = size[0]["origin"]["written"];
    line.erase(0, size[0]["origin"]["column"].get<std::size_t>() - 1);
    line.erase(0, line.find_first_not_of('"'));
    EXPECT_THAT(line, testing::StartsWith(written));

    EXPECT_GT(ask({{"name", "chip0"}, {"inside", true}}).size(), 500u);
    EXPECT_THROW(ask({{"name", "chip0.hbm0.sise"}}), rpc::error);
}

TEST(Inspection, EveryModuleOfTheBoardIsInTheHierarchyWithKindAndParent) {
    log::replace_sink({});
    platform board(kinds(), {.board = "trn3-chip"});
    std::set<std::string> names, foreign_kinds;
    const std::set<std::string> known{"sc_object",  // tlm_utils::peq_with_cb_and_phase
                                      "sc_module",
                                      "sc_method_process",
                                      "sc_thread_process",
                                      "sc_port",
                                      "sc_export",
                                      "sc_event_queue",
                                      "sc_vector",
                                      "tlm_initiator_socket",
                                      "tlm_target_socket",
                                      "tlm_base_initiator_socket",
                                      "tlm_base_target_socket",
                                      "irq_in",
                                      "irq_out",
                                      "plug"};
    const auto walk = [&](const auto& self, const std::vector<sc_core::sc_object*>& level) -> void {
        for (auto* object : level) {
            EXPECT_TRUE(names.insert(object->name()).second) << object->name();
            EXPECT_EQ(sc_core::sc_find_object(object->name()), object);
            if (!known.contains(object->kind()))
                foreign_kinds.insert(std::string(object->kind()) + " " + object->name());
            for (const auto* child : object->get_child_objects()) {
                EXPECT_EQ(child->get_parent_object(), object);
                EXPECT_EQ(child->name(), std::string(object->name()) + "." + child->basename());
            }
            self(self, object->get_child_objects());
        }
    };
    walk(walk, sc_core::sc_get_top_level_objects());
    EXPECT_TRUE(foreign_kinds.empty()) << testing::PrintToString(foreign_kinds);
    for (const auto& planned : board.modules().board().modules) {
        EXPECT_TRUE(names.contains(planned.path)) << planned.path;
        EXPECT_STREQ(sc_core::sc_find_object(planned.path.c_str())->kind(), "sc_module");
        if (planned.built_as == nullptr) continue;
        for (const auto& end : planned.built_as->ports)
            if (end.interface.empty() && !end.count && !end.may_be_unbound) {
                EXPECT_TRUE(names.contains(planned.path + "." + end.name))
                    << planned.path << "." << end.name;
            }
    }
}

/// The digest of the trace of 3 ms of boot.
std::uint64_t digest_of_boot(const std::string& traced, std::vector<std::string> names) {
    log::replace_sink({});
    trace::open({});
    platform board(kinds(), {.board = "trn3-chip"});
    sc_core::sc_trace_file* file = nullptr;
    if (!traced.empty()) {
        file = sc_core::sc_create_vcd_trace_file(traced.c_str());
        for (const auto& name : names) trace_by_name(file, name);
    }
    board.loop().run(
        {.waiter = "test", .condition_text = "3 ms", .until = sc_core::sc_time(3, sc_core::SC_MS)});
    if (file != nullptr) sc_core::sc_close_vcd_trace_file(file);
    const auto digest = trace::digest();
    trace::close();
    return digest;
}

TEST(Inspection, TracesOfRegistersAndLinesChangeNoResult) {
    // A process has one board: the reference is made by another one.
    const test::scratch_folder folder;
    const auto reference = folder / "digest";
    if (fork() == 0) {
        std::ofstream(reference) << digest_of_boot("", {});
        _exit(0);
    }
    int status = 0;
    wait(&status);
    std::uint64_t expected = 0;
    std::ifstream(reference) >> expected;
    ASSERT_NE(expected, 0u);
    EXPECT_EQ(digest_of_boot(folder / "boot",
                             {"chip0.management.uart.LSR", "chip0.management.uart.DATA",
                              "chip0.management.misc_ram.doorbell", "chip0.management.irqs.source",
                              "chip0.udma0.M2S_STATE", "chip0.management.misc_ram.ROUTING_ID"}),
              expected);
    std::ifstream dump(folder / "boot.vcd");
    std::stringstream text;
    text << dump.rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("ROUTING_ID"));
    EXPECT_GT(text.str().size(), 1000u);
}

}  // namespace
