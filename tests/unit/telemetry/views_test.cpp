// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "platform/app/telemetry/views/attributes_json.h"
#include "platform/app/telemetry/views/ls_json.h"
#include "platform/app/telemetry/views/ls_table.h"
#include "platform/app/telemetry/views/metrics_request.h"
#include "platform/app/telemetry/views/monitor_json.h"
#include "platform/app/telemetry/views/prometheus_text.h"
#include "platform/app/telemetry/views/summary.h"
#include "platform/app/telemetry/views/top_screen.h"
#include "platform/app/telemetry/views/topology.h"
#include "tests/unit/telemetry/sample_state.h"

namespace {

using namespace trn::telemetry;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

device& first_of(machine_state& state) {
    return state.instances.at(0).devices.at(0);
}

/// Half of the second since the start, core 0 of device 0 has worked.
machine_state busy_torus() {
    auto state = test::torus();
    auto& c = first_of(state).cores[0];
    c.busy_ns = 500'000'000;
    c.engines["tensor"] = {.busy_ns = 500'000'000, .instructions = 9, .flops = 1000};
    state.instances[0].processes.push_back(test::some_process());
    return state;
}

TEST(LsTable, HasTheColumnsOfNeuronLs) {
    const auto text = ls_table(test::torus(), {});
    EXPECT_THAT(text, StartsWith("instance-type: trn3.48xlarge\ninstance-id: i-0123456789abcdef0\n"
                                 "logical-neuroncore-config: 2\n"));
    EXPECT_THAT(text, HasSubstr("| 1      | 4      | 4-7      | 144 GB | 2, 0, 5, 13   |"));
    EXPECT_THAT(text, Not(HasSubstr("STATUS")));
    EXPECT_THAT(text, Not(HasSubstr("PID")));
}

TEST(LsTable, ShowsProcessesAndStatusWhereThereAreAny) {
    auto state = busy_torus();
    first_of(state).faulty = std::vector<std::string>{"hbm"};
    state.instances[0].devices[1].status = device_status::gone;
    const auto text = ls_table(state, {});
    EXPECT_THAT(text, HasSubstr("| 4711 | python3 train.py |"));
    EXPECT_THAT(text, HasSubstr("unhealthy: hbm"));
    EXPECT_THAT(text, HasSubstr("gone"));
}

/// The process of busy_torus() with accounts: core 9 is core 1 of device 1.
machine_state accounted_torus() {
    auto state = busy_torus();
    auto& p = state.instances[0].processes[0];
    p.cores = std::vector<unsigned>{9};
    p.device_memory = {{"tensors", 4096}, {"model_code", 1024}};
    p.status = {{"success", 3}, {"timeout", 1}};
    p.latency_ns = {{"p0", 1000}, {"p50", 2000}, {"p100", 3000}};
    return state;
}

TEST(LsTable, ShowsCoresAndMemoryOfProcessesWithAccounts) {
    EXPECT_THAT(ls_table(busy_torus(), {}), Not(HasSubstr("CORE IDS |\n| 0")));
    auto state = accounted_torus();
    const auto text = ls_table(state, {});
    EXPECT_THAT(text, HasSubstr("| PROCESS  | PROCESS |"));
    EXPECT_THAT(text, HasSubstr("| python3 train.py | 4        | 5.0KB   |"));
    EXPECT_THAT(text, HasSubstr("| python3 train.py |          | 5.0KB   |"));  // none of device 0
    auto other = test::some_process();
    other.pid = 5;
    state.instances[0].processes.push_back(other);
    EXPECT_THAT(ls_table(state, {}), HasSubstr("| 5    | python3 train.py | n/a      | n/a     |"));
}

TEST(LsTable, CoresOfProcessesAreShownWhenTheFirstDeviceIsNotKnown) {
    auto state = accounted_torus();
    first_of(state).core_count = 0;
    EXPECT_THAT(ls_table(state, {}), HasSubstr("| python3 train.py | 4        | 5.0KB   |"));
}

TEST(LsTable, UnknownIsWrittenSo) {
    auto state = test::torus();
    auto& d = first_of(state);
    d.bdf.clear();
    d.connected.reset();
    d.memory_bytes.reset();
    EXPECT_THAT(ls_table(state, {}), HasSubstr("| 0      | 4      | 0-3      | n/a    | n/a "));
}

/// A state with text from outside that would move the cursor, or begin a line.
machine_state hostile_torus() {
    constexpr const char* hostile = "a\033[2Jb\nc\td\xc2\x9b";
    auto state = busy_torus();
    auto& machine = state.instances[0];
    machine.name = machine.type = machine.id = hostile;
    machine.process_error = hostile;
    machine.processes[0].command = machine.processes[0].name = hostile;
    auto& d = first_of(state);
    d.bdf = hostile;
    d.numa_node = d.cpu_affinity = hostile;
    d.faulty = std::vector<std::string>{hostile};
    d.links.push_back({.port = 1, .fault = hostile, .partner = "chip"});
    state.instances.push_back(machine);
    return state;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(TextFromOutside, DoesNotControlTheTerminal) {
    auto plain = hostile_torus();
    for (auto& machine : plain.instances) {
        machine.name = machine.type = machine.id = "a";
        machine.process_error = "a";
        machine.processes[0].command = machine.processes[0].name = "a";
        auto& d = machine.devices[0];
        d.bdf = "a";
        d.numa_node = d.cpu_affinity = "a";
        d.faulty = std::vector<std::string>{"a"};
        d.links[0].fault = "a";
    }
    const auto hostile = hostile_torus();
    const auto top = [](const machine_state& state) {
        return top_screen({.columns = 300, .rows = 0}, nullptr, state, {}).text;
    };
    for (const auto& [shown, expected] :
         {std::pair(ls_table(hostile, {.wide = true}), ls_table(plain, {.wide = true})),
          std::pair(topology_text(hostile), topology_text(plain)),
          std::pair(top(hostile), top(plain))}) {
        EXPECT_EQ(lines_of(shown), lines_of(expected)) << shown;
        for (const auto* control : {"\033", "\t", "\xc2\x9b"})
            EXPECT_THAT(shown, Not(HasSubstr(control)));
    }
}

TEST(LsJson, HasTheFieldsOfNeuronLs) {
    const auto list = ls_json(busy_torus(), false);
    ASSERT_EQ(list.size(), 16u);
    const auto& d = list[1];
    EXPECT_EQ(d["neuron_device"], 1);
    EXPECT_EQ(d["bdf"], "0000:02:00.0");
    EXPECT_EQ(d["nc_count"], 4);
    EXPECT_EQ(d["logical_neuroncore_config"], 2);
    EXPECT_EQ(d["memory_size"], std::uint64_t{144} << 30);
    EXPECT_EQ(d["connected_to"], json({2, 0, 5, 13}));
    EXPECT_EQ(d["neuroncore_ids"], json({4, 5, 6, 7}));
    EXPECT_EQ(d["neuron_processes"][0]["pid"], 4711);
}

TEST(LsJson, HasTheAccountsOfProcesses) {
    const auto unknown = ls_json(busy_torus(), false)[1]["neuron_processes"][0];
    for (const char* field : {"neuroncore_ids", "device_memory", "executions", "latency_ns"})
        EXPECT_TRUE(unknown[field].is_null()) << field;
    const auto list = ls_json(accounted_torus(), false);
    const auto& p = list[1]["neuron_processes"][0];
    EXPECT_EQ(p["neuroncore_ids"], json({4}));
    EXPECT_EQ(list[0]["neuron_processes"][0]["neuroncore_ids"], json::array());
    EXPECT_EQ(p["device_memory"], json({{"tensors", 4096}, {"model_code", 1024}}));
    EXPECT_EQ(p["executions"]["timeout"], 1);
    EXPECT_EQ(p["latency_ns"]["p100"], 3000);
}

TEST(LsJson, LeavesOutToolsUnlessAsked) {
    auto state = busy_torus();
    state.instances[0].processes[0].name = "trn-top";
    EXPECT_TRUE(ls_json(state, false)[0]["neuron_processes"].empty());
    EXPECT_EQ(ls_json(state, true)[0]["neuron_processes"].size(), 1u);
}

TEST(LsJson, ADeviceWithoutVisibleProcessesMayHaveOthers) {
    auto state = busy_torus();
    state.instances[0].process_error = "processes of other users are not visible";
    const auto list = ls_json(state, false);
    EXPECT_EQ(list[0]["neuron_processes"].size(), 1u);
    EXPECT_TRUE(list[5]["neuron_processes"].is_null());
}

TEST(Topology, DrawsATorusWithItsWrapAroundLinks) {
    const auto text = topology_text(test::torus());
    EXPECT_THAT(text, HasSubstr("*––►[ 0 ]◄–––►[ 1 ]◄–––►[ 2 ]◄–––►[ 3 ]◄––*"));
    EXPECT_THAT(text, HasSubstr("Wrap-around"));
}

TEST(Topology, ListsALinkThatItCannotDraw) {
    auto state = test::torus();
    first_of(state).connected->push_back(2);  // past its neighbour
    EXPECT_THAT(topology_text(state), HasSubstr("[ 0 ] connected to: 1, 3, 4, 12, 2"));
}

TEST(Topology, ListsOtherConnections) {
    auto state = test::torus();
    first_of(state).connected = std::vector<unsigned>{15};
    first_of(state).links.push_back({.port = 1, .fault = "down", .partner = "rack_switch"});
    const auto text = topology_text(state);
    EXPECT_THAT(text, HasSubstr("[ 0 ] connected to: 15"));
    EXPECT_THAT(text, HasSubstr("rack switch"));
    EXPECT_THAT(text, HasSubstr("down"));
}

TEST(Interval, UtilisationIsOfTheTimeBetweenTwoStates) {
    const auto before = busy_torus();
    auto now = before;
    *now.clock_ns += 100'000'000;
    *first_of(now).cores[0].busy_ns += 25'000'000;
    const auto& machine = now.instances[0];
    const auto& d = machine.devices[0];
    EXPECT_NEAR(*interval(&before, now).utilisation(machine, d, d.cores[0]), 25, 1e-6);
    EXPECT_NEAR(*interval(nullptr, before)
                     .utilisation(machine, before.instances[0].devices[0],
                                  before.instances[0].devices[0].cores[0]),
                50, 1e-6);
}

TEST(Interval, ACoreThatWasResetCountsFromZero) {
    const auto before = busy_torus();
    auto now = before;
    *now.clock_ns += 100'000'000;
    first_of(now).cores[0].busy_ns = 10'000'000;
    const auto& machine = now.instances[0];
    const auto& d = machine.devices[0];
    EXPECT_NEAR(*interval(&before, now).utilisation(machine, d, d.cores[0]), 10, 1e-6);
}

TEST(MonitorJson, HasTheSectionsOfNeuronMonitor) {
    const auto now = busy_torus();
    const auto report = monitor_json({}, nullptr, now, now.instances[0], {});
    const auto& runtime = report.at("neuron_runtime_data").at(0);
    EXPECT_EQ(runtime["pid"], 4711);
    const auto& cores = runtime["report"]["neuroncore_counters"]["neuroncores_in_use"];
    EXPECT_EQ(cores.size(), 8u);  // logical cores of two devices
    EXPECT_DOUBLE_EQ(cores["0"]["neuroncore_utilization"].get<double>(), 25.0);
    EXPECT_DOUBLE_EQ(cores["0"]["v3d"]["nc_v3.0"]["neuroncore_utilization"].get<double>(), 50.0);
    EXPECT_EQ(cores["0"]["flops"], 1000);
    EXPECT_TRUE(runtime["report"]["execution_stats"]["latency_stats"]["total_latency"].is_null());
    const auto& devices = report["system_data"]["neuron_hw_counters"]["neuron_devices"];
    EXPECT_EQ(devices[3]["neuron_device_index"], 3);
    EXPECT_EQ(devices[3]["sram_ecc_uncorrected"], 0);
    EXPECT_FALSE(devices[3].contains("mem_ecc_corrected"));  // not known
    EXPECT_EQ(report["neuron_hardware_info"]["neuroncore_per_device_count"], 4);
    EXPECT_EQ(report["instance_info"]["instance_type"], "trn3.48xlarge");
}

TEST(MonitorJson, ReportsTheAccountsOfAProcess) {
    const auto now = accounted_torus();
    const auto report = monitor_json({}, nullptr, now, now.instances[0], {});
    const auto& runtime = report.at("neuron_runtime_data").at(0)["report"];
    const auto& cores = runtime["neuroncore_counters"]["neuroncores_in_use"];
    EXPECT_EQ(cores.size(), 1u);
    EXPECT_TRUE(cores.contains("4"));
    const auto& executions = runtime["execution_stats"];
    EXPECT_EQ(executions["execution_summary"]["completed"], 3);
    EXPECT_EQ(executions["execution_summary"]["timed_out"], 1);
    EXPECT_DOUBLE_EQ(executions["latency_stats"]["total_latency"]["p50"].get<double>(), 2e-6);
    EXPECT_EQ(runtime["memory_used"]["neuron_runtime_used_bytes"]["neuron_device"], 5120);
}

TEST(MonitorJson, CountsErrorsOfThePeriod) {
    auto before = busy_torus();
    first_of(before).sram_uncorrected = 3;
    first_of(before).cores[0].status = {{"success", 10}, {"hw_hbm_ue_error", 1}};
    auto now = before;
    first_of(now).sram_uncorrected = 5;
    first_of(now).cores[0].status = {{"success", 14}, {"hw_hbm_ue_error", 2}};
    const auto report = monitor_json({}, &before, now, now.instances[0], {});
    const auto& counters = report["system_data"]["neuron_hw_counters"]["neuron_devices"][0];
    EXPECT_EQ(counters["sram_ecc_uncorrected"], 2);
    const auto& run = report["neuron_runtime_data"][0]["report"]["execution_stats"];
    EXPECT_EQ(run["execution_summary"]["completed"], 4);
    EXPECT_EQ(run["error_summary"]["hardware"], 1);
}

/// Adds the places of values below `at` that are null.
void find_nulls(const json& value, const std::string& at, std::vector<std::string>& nulls) {
    if (value.is_null()) nulls.push_back(at);
    if (value.is_structured())
        for (const auto& [key, inside] : value.items()) find_nulls(inside, at + "/" + key, nulls);
}

TEST(MonitorJson, AGroupWithWhatIsNotKnownHasAnErrorAndNoNulls) {
    // The public exporter divides utilisations and adds counts of each group without an error.
    auto now = busy_torus();
    for (auto& c : first_of(now).cores) c.busy_ns.reset();
    const auto report = monitor_json({}, nullptr, now, now.instances[0], {});
    const auto& runtime = report["neuron_runtime_data"][0]["report"];
    for (const auto* name :
         {"neuroncore_counters", "execution_stats", "memory_used", "neuron_runtime_vcpu_usage"})
        EXPECT_NE(runtime[name]["error"], "") << name;
    EXPECT_FALSE(runtime["neuroncore_counters"]["neuroncores_in_use"].contains("0"));
    EXPECT_EQ(runtime["execution_stats"]["execution_summary"], json::object());
    EXPECT_FALSE(runtime["memory_used"]["neuron_runtime_used_bytes"].contains("host"));
    EXPECT_EQ(runtime["neuron_runtime_vcpu_usage"]["vcpu_usage"], json::object());
    EXPECT_EQ(report["system_data"]["neuron_hw_counters"]["error"], "not known: mem_ecc_corrected");
    EXPECT_EQ(report["system_data"]["vcpu_usage"]["average_usage"], json::object());
    EXPECT_NE(report["system_data"]["memory_info"]["error"], "");
    std::vector<std::string> nulls;
    find_nulls(report, "", nulls);
    const std::string latency = "/neuron_runtime_data/0/report/execution_stats/latency_stats/";
    EXPECT_THAT(nulls, testing::UnorderedElementsAre(latency + "device_latency",
                                                     latency + "total_latency"));
}

TEST(MonitorJson, AGroupOfWhichAllIsKnownHasNoError) {
    auto now = busy_torus();
    for (auto& d : now.instances[0].devices) {
        d.hbm_corrected = 0;
        d.host_memory = {
            {"application_memory", 1}, {"constants", 2}, {"dma_buffers", 3}, {"tensors", 4}};
        for (auto& c : d.cores) {
            c.status = {{"success", 3}, {"hw_error", 0}};
            c.device_memory = {{"constants", 1},
                               {"model_code", 1},
                               {"model_shared_scratchpad", 1},
                               {"runtime_memory", 1},
                               {"tensors", 1}};
            c.device_memory_bytes = 9;
        }
    }
    host_usage host;
    host.before.emplace();
    host.before->process_ticks[4711] = {100, 10};
    host.now.wall_ms = 1000;
    host.now.process_ticks[4711] = {150, 10};
    host.now.processors = {{1, 2, 3, 4, 5, 6, 7}};
    host.before->context_switches = 1;
    host.now.context_switches = 3;
    host.now.memory_total = host.now.swap_total = 10;
    host.now.memory_available = host.now.swap_free = 4;
    const auto report = monitor_json({}, nullptr, now, now.instances[0], host);
    for (const auto& [name, group] : report["neuron_runtime_data"][0]["report"].items())
        EXPECT_EQ(group["error"], "") << name;
    for (const auto& [name, group] : report["system_data"].items())
        EXPECT_EQ(group["error"], "") << name;
    EXPECT_EQ(report["system_data"]["memory_info"]["memory_used_bytes"], 6);
    const auto& memory = report["neuron_runtime_data"][0]["report"]["memory_used"];
    EXPECT_EQ(memory["neuron_runtime_used_bytes"]["neuron_device"], 2 * 8 * 9);
    EXPECT_EQ(memory["neuron_runtime_used_bytes"]["host"], 2 * 10);
}

TEST(MonitorJson, WorkOfADeviceWithTwoProcessesCountsOnce) {
    auto now = busy_torus();
    auto& machine = now.instances[0];
    auto second = test::some_process();
    second.pid = 4712;
    second.devices = {0, 0};
    machine.processes.push_back(second);
    first_of(now).cores[0].status = {{"success", 7}};
    const auto report = monitor_json({}, nullptr, now, machine, {});
    unsigned entries = 0, completed = 0;
    for (const auto& runtime : report["neuron_runtime_data"]) {
        entries += runtime["report"]["neuroncore_counters"]["neuroncores_in_use"].contains("0");
        completed +=
            runtime["report"]["execution_stats"]["execution_summary"].value("completed", 0u);
    }
    EXPECT_EQ(entries, 1u);
    EXPECT_EQ(completed, 7u);
    // Not of both, but of those that say which cores they use.
    machine.processes[0].cores = {0};
    machine.processes[1].cores = {cores_of_logical_core(first_of(now))};
    const auto known = monitor_json({}, nullptr, now, machine, {})["neuron_runtime_data"];
    ASSERT_EQ(known.size(), 2u);
    for (unsigned n = 0; n < 2; ++n) {
        const auto& cores = known[n]["report"]["neuroncore_counters"]["neuroncores_in_use"];
        EXPECT_EQ(cores.size(), 1u);
        EXPECT_TRUE(cores.contains(std::to_string(n)));
    }
}

TEST(MonitorJson, HasThePercentilesThatAreKnown) {
    auto now = busy_torus();
    now.instances[0].processes[0].latency_ns = {{"p50", 2'000'000}};
    const auto report = monitor_json({}, nullptr, now, now.instances[0], {});
    const auto& run = report["neuron_runtime_data"][0]["report"]["execution_stats"];
    EXPECT_EQ(run["latency_stats"]["total_latency"], json({{"p50", 0.002}}));
    EXPECT_THAT(prometheus_text(nullptr, now, {}), HasSubstr("percentile=\"p50\"} 0.002\n"));
}

TEST(MonitorJson, FlopsOfAShortIntervalAreANumber) {
    auto before = busy_torus();
    auto now = before;
    *now.clock_ns += 1;
    first_of(now).cores[0].engines["tensor"].flops = std::uint64_t{1} << 63;
    const auto report = monitor_json({}, &before, now, now.instances[0], {});
    const auto& runtime = report["neuron_runtime_data"][0]["report"];
    EXPECT_GE(runtime["neuroncore_counters"]["neuroncores_in_use"]["0"]["flops"].get<double>(),
              9e15);
}

TEST(HostUsage, AProcessNumberThatIsUsedAgainHasNoUsage) {
    host_usage usage;
    usage.before.emplace().process_ticks[7] = {100, 100};
    usage.now.wall_ms = 1000;
    usage.now.process_ticks[7] = {5, 1};
    EXPECT_FALSE(usage.of_process(7));
}

TEST(HostUsage, IsNotKnownOfAMachineThatIsNotHere) {
    const auto sample = read_host(busy_torus(), "");
    EXPECT_TRUE(sample.processors.empty());
    EXPECT_FALSE(sample.memory_used());
    EXPECT_THAT(prometheus_text(nullptr, busy_torus(), {.before = {}, .now = sample}),
                Not(HasSubstr("system_")));
}

TEST(MonitorChoice, ReportsAtTheShortestPeriodOfTheFile) {
    EXPECT_EQ(
        monitor_choice_of(R"({"system_metrics":[{"type":"memory_info","period":"2s"}]})").period_s,
        2);
    EXPECT_EQ(
        monitor_choice_of(R"({"period":"3s","neuron_runtimes":[{"period":"1s","metrics":[]}]})")
            .period_s,
        1);
}

TEST(MonitorChoice, ReadsAConfigurationOfNeuronMonitor) {
    const auto chosen = monitor_choice_of(
        R"({"period":"2s","neuron_runtimes":[{"tag_filter":".*","metrics":[{"type":"memory_used"}]}],)"
        R"("system_metrics":[{"type":"memory_info","period":"5s"}]})");
    EXPECT_EQ(chosen.period_s, 2);
    EXPECT_THAT(chosen.runtimes.at(0).groups, testing::ElementsAre("memory_used"));
    EXPECT_THAT(chosen.system, testing::ElementsAre("memory_info"));
    const auto now = busy_torus();
    const auto report = monitor_json(chosen, nullptr, now, now.instances[0], {});
    EXPECT_EQ(report["neuron_runtime_data"][0]["report"].size(), 1u);
    EXPECT_EQ(report["system_data"].size(), 1u);
}

TEST(MonitorChoice, RefusesWhatItDoesNotKnow) {
    for (const auto* text :
         {"[]", "x", R"({"period":"soon"})", R"({"period":"0s"})", R"({"neuron_runtimes":3})",
          R"({"system_metrics":[{"type":"weather"}]})", R"({"period":1e9})",
          R"({"neuron_runtimes":[{"tag_filter":1,"metrics":[]}]})",
          R"({"neuron_runtimes":[{"tag_filter":"(","metrics":[]}]})",
          R"({"neuron_runtimes":[{"tag_filter":"*","metrics":[]}]})",
          R"({"neuron_runtimes":[{"tag_filter":"((1{999}){999}){999}","metrics":[]}]})",
          R"({"neuron_runtimes":[{"filter":".*"}]})", R"({"neuron_runtime":[]})",
          R"({"system_metrics":[{"type":"memory_info","interval":"5s"}]})"})
        EXPECT_THROW(monitor_choice_of(text), std::runtime_error) << text;
}

TEST(MonitorChoice, FiltersProcessesByTag) {
    auto chosen = monitor_choice{};
    const auto now = busy_torus();
    const auto count = [&](const char* filter) {
        chosen.runtimes[0].tag_filter = filter;
        return monitor_json(chosen, nullptr, now, now.instances[0], {})["neuron_runtime_data"]
            .size();
    };
    EXPECT_EQ(count(".*"), 1u);
    EXPECT_EQ(count("4711"), 1u);
    EXPECT_EQ(count("4.*1"), 1u);
    EXPECT_EQ(count("47.1"), 1u);
    EXPECT_EQ(count("^(12|4711)$"), 1u);
    EXPECT_EQ(count("[0-9]{4}"), 1u);
    EXPECT_EQ(count("((((4*)*)*)*|(((.*)*)*)*)*x"), 0u);  // takes no time
    EXPECT_EQ(count("471"), 0u);
    EXPECT_EQ(count(""), 0u);
}

TEST(Prometheus, HasTheNamesOfThePublicExporter) {
    auto now = busy_torus();
    first_of(now).sram_uncorrected = 2;
    const auto text = prometheus_text(nullptr, now, {});
    EXPECT_THAT(text, HasSubstr("# TYPE neuroncore_utilization_ratio gauge\n"));
    EXPECT_THAT(text, HasSubstr("runtime_tag=\"4711\",neuroncore=\"0\"} 0.25\n"));
    EXPECT_THAT(text,
                HasSubstr("event_type=\"sram_ecc_uncorrected\",neuron_device_index=\"0\"} 2\n"));
    EXPECT_THAT(text, Not(HasSubstr("mem_ecc_corrected")));  // not known
    EXPECT_THAT(text, HasSubstr("instance_type=\"trn3.48xlarge\""));
}

TEST(Prometheus, EachNameIsDeclaredOnceBeforeItsSamples) {
    const auto text = prometheus_text(nullptr, busy_torus(), {});
    std::set<std::string> declared;
    std::istringstream lines(text);
    std::string present;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# TYPE ")) {
            present = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(declared.insert(present).second) << present;
        } else if (!line.starts_with('#')) {
            EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), present);
        }
    }
    EXPECT_GT(declared.size(), 8u);
}

TEST(Prometheus, EscapesLabels) {
    auto now = test::torus();
    now.instances[0].id = "a\"b\\c\nd";
    EXPECT_THAT(prometheus_text(nullptr, now, {}), HasSubstr(R"(instance_id="a\"b\\c\nd")"));
}

TEST(Prometheus, WhatIsNotKnownIsAbsent) {
    const auto text = prometheus_text(nullptr, busy_torus(), {});
    for (const auto* name : {"execution_", "system_", "memory_used", "memory_usage"})
        EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST(Prometheus, LabelsAreUtf8AndNoSampleIsThereTwice) {
    auto now = busy_torus();
    now.instances[0].id = "a\xff\xc3";
    first_of(now).faulty = std::vector<std::string>{"hbm", "hbm"};
    const auto text = prometheus_text(nullptr, now, {});
    EXPECT_THAT(text, HasSubstr("instance_id=\"a??\""));
    std::set<std::string> series;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second || line[0] == '#')
            << line;
}

TEST(Prometheus, CoresHaveDifferentNumbersWhenTheFirstDeviceIsNotKnown) {
    auto now = busy_torus();
    first_of(now).core_count = 0;
    first_of(now).cores.clear();
    EXPECT_THAT(prometheus_text(nullptr, now, {}), HasSubstr("neuroncore=\"4\""));
}

TEST(Interval, ACoreThatWasNotThereBeforeHasNoUtilisation) {
    auto before = busy_torus();
    first_of(before).cores.clear();
    auto now = busy_torus();
    *now.clock_ns += 100'000'000;
    const auto& machine = now.instances[0];
    const auto& d = machine.devices[0];
    EXPECT_FALSE(interval(&before, now).utilisation(machine, d, d.cores[0]));
    EXPECT_FALSE(interval(&before, now).flops(machine, d, d.cores[0]));
}

TEST(TopScreen, ItsTitleNamesTheInstanceOrThePlatformOfSeveral) {
    auto state = test::torus(4);
    EXPECT_THAT(top_screen({}, nullptr, state, {}).text, HasSubstr("on i-0123456789abcdef0 ("));
    state.instances.push_back(state.instances[0]);
    EXPECT_THAT(top_screen({}, nullptr, state, {}).text, HasSubstr("on platform test ("));
}

TEST(TopScreen, TheMeanIsOfTheDevicesThatAreKnown) {
    auto state = test::torus(4);
    for (auto& c : first_of(state).cores) c.busy_ns = 500'000'000;
    for (unsigned n = 1; n < 4; ++n) state.instances[0].devices[n].cores.clear();
    EXPECT_THAT(top_screen({}, nullptr, state, {}).text, HasSubstr("(Avg: 50.00%)"));
}

TEST(TopScreen, DeviceMemoryHasKindsThatAreNotNamed) {
    auto state = test::torus(4);
    first_of(state).cores[0].device_memory_bytes = 4096;
    first_of(state).cores[0].device_memory = {{"tensors", 1024}};
    EXPECT_THAT(top_screen({.columns = 200}, nullptr, state, {}).text,
                HasSubstr("Device Used Memory  Total: 4.0KB  Tensors: 1.0KB  Constants: n/a"));
}

TEST(TopScreen, FitsItsColumnsAndRows) {
    auto state = test::torus(144);
    first_of(state).faulty = std::vector<std::string>{"hbm"};
    for (const std::size_t columns : {20, 40, 80, 200}) {
        top_view view;
        view.columns = columns;
        view.rows = 12;
        const auto shown = top_screen(view, nullptr, state, {});
        std::istringstream lines(shown.text);
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count)
            EXPECT_LE(columns_of(line), columns) << line;
        EXPECT_LE(count, view.rows);
        EXPECT_GT(shown.last_scroll, 100u);
    }
}

TEST(TopScreen, CountsTheMemoryOfAProcessOnce) {
    auto state = accounted_torus();
    EXPECT_THAT(top_screen({}, nullptr, state, {}).text, HasSubstr("Tensors: 4.0KB"));
    auto& c = state.instances[0].devices[1].cores[1];
    c.device_memory = {{"tensors", 4096}, {"model_code", 1024}};
    c.device_memory_bytes = 5120;
    EXPECT_THAT(top_screen({}, nullptr, state, {}).text, HasSubstr("Tensors: 4.0KB"));
}

TEST(TopScreen, ScrollsSortsAndFilters) {
    auto state = busy_torus();
    state.instances[0].devices[9].cores[0].busy_ns = 1'000'000'000;
    top_view view{.rows = 0};
    EXPECT_THAT(top_screen(view, nullptr, state, {}).text, HasSubstr("(Avg: "));
    view.order = top_order::utilisation;
    const auto sorted = top_screen(view, nullptr, state, {}).text;
    EXPECT_LT(sorted.find("ND9"), sorted.find("ND0"));
    view.tab = 1;
    const auto one = top_screen(view, nullptr, state, {}).text;
    EXPECT_THAT(one, HasSubstr("ND1"));
    EXPECT_THAT(one, Not(HasSubstr("ND9")));
    view = {.rows = 14, .scrolled = 1000};
    EXPECT_THAT(top_screen(view, nullptr, state, {}).text, HasSubstr("ND15"));
}

TEST(Attributes, NamesGroupsAndAvoidsDevicesWithAFault) {
    auto state = test::torus();
    first_of(state).faulty = std::vector<std::string>{"hbm"};
    const auto slice = attributes_json(state).at(0);
    const auto& d = slice["devices"];
    EXPECT_EQ(d[5]["attributes"]["deviceId"]["int"], 5);
    EXPECT_EQ(d[5]["attributes"]["topology_x"]["int"], 1);
    EXPECT_EQ(d[4]["attributes"]["resource.aws.com/devicegroup4_id"],
              d[7]["attributes"]["resource.aws.com/devicegroup4_id"]);
    EXPECT_NE(d[3]["attributes"]["resource.aws.com/devicegroup4_id"],
              d[4]["attributes"]["resource.aws.com/devicegroup4_id"]);
    EXPECT_TRUE(d[0].contains("taints"));
    EXPECT_FALSE(d[1].contains("taints"));
    std::size_t usable = 0;
    for (const auto& group : slice["groups"]) usable += group["usable"].get<bool>();
    EXPECT_EQ(slice["groups"].size(), 16u + 4 + 2 + 1);
    EXPECT_EQ(usable, 15u + 3 + 1);
}

TEST(Attributes, GroupsFollowTheNumbersOfTheDevices) {
    auto state = test::torus(4);
    for (auto& d : state.instances[0].devices) d.index += 8;  // as a container sees them
    const auto slice = attributes_json(state)[0];
    std::vector<json> groups;
    for (const auto& group : slice["groups"])
        if (group["size"] == 4) groups.push_back(group);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0]["devices"], json({8, 9, 10, 11}));
    EXPECT_TRUE(groups[0]["usable"]);
}

TEST(MetricsRequest, AnswersWhatItKnows) {
    const auto page = [] { return std::string("a 1\n"); };
    const auto status = [&](std::string_view request) {
        const auto response = metrics_request().receive(request, page);
        return response ? response->substr(9, 3) : std::string("none");
    };
    EXPECT_EQ(status("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "200");
    EXPECT_EQ(status("GET /metrics?x=1 HTTP/1.0\n\n"), "200");
    EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "200");
    EXPECT_EQ(status("GET http://localhost:8000/metrics HTTP/1.1\r\n\r\n"), "200");
    EXPECT_EQ(status("GET http://localhost:8000 HTTP/1.1\r\n\r\n"), "404");
    EXPECT_EQ(status("GET /etc/passwd HTTP/1.1\r\n\r\n"), "404");
    EXPECT_EQ(status("POST /metrics HTTP/1.1\r\n\r\n"), "405");
    EXPECT_EQ(status("\r\n\r\n"), "400");
    EXPECT_EQ(status(" /metrics HTTP/1.1\r\n\r\n"), "400");
    EXPECT_EQ(status("GET /metrics\r\n\r\n"), "400");
    EXPECT_EQ(status("GET /metrics HTTP/1.1\r\n"), "none");
    EXPECT_EQ(status("GET /" + std::string(9000, 'a')), "431");
    EXPECT_EQ(status(std::string(9000, '\0')), "431");
}

TEST(MetricsRequest, TakesItsHeadInParts) {
    const auto page = [] { return std::string("a 1\n"); };
    metrics_request request;
    std::optional<std::string> response;
    for (const char c : std::string_view("GET /metrics HTTP/1.1\r\n\r\n")) {
        EXPECT_FALSE(response);
        response = request.receive(std::string_view(&c, 1), page);
    }
    ASSERT_TRUE(response);
    EXPECT_THAT(*response, testing::EndsWith("\r\n\r\na 1\n"));
    EXPECT_THAT(*response, HasSubstr("Content-Length: 4\r\n"));
}

TEST(MetricsRequest, ASourceThatHasEndedIsUnavailable) {
    const auto response = metrics_request().receive(
        "GET /metrics HTTP/1.1\r\n\r\n",
        []() -> std::string { throw std::runtime_error("the platform has ended"); });
    EXPECT_THAT(*response, StartsWith("HTTP/1.1 503"));
    const auto without_body = metrics_request().receive(
        "HEAD /metrics HTTP/1.1\r\n\r\n", []() -> std::string { throw std::runtime_error("why"); });
    EXPECT_THAT(*without_body, testing::EndsWith("\r\n\r\n"));
}

}  // namespace
