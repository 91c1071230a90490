// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/state_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/telemetry/sample_state.h"

namespace {

using namespace trn::telemetry;
using nlohmann::json;
using testing::HasSubstr;

TEST(StateJson, IsReadAsItWasWritten) {
    auto state = test::torus();
    auto& d = state.instances[0].devices[3];
    d.status = device_status::resetting;
    d.faulty = std::vector<std::string>{"hbm", "link_switch"};
    d.celsius = {45.5, 50};
    d.links.push_back({.port = 2, .up = true, .generation = 6, .lanes = 40, .fault = "degraded"});
    d.cores[1].engines["tensor"] = {.busy_ns = 5, .instructions = 6, .flops = 7};
    d.cores[1].device_memory["tensors"] = 4096;
    state.instances[0].processes.push_back(test::some_process());
    state.instances[0].process_error = "no permission";
    const auto written = to_json(state);
    EXPECT_EQ(to_json(state_of(written)), written);
    EXPECT_EQ(written["instances"][0]["devices"][3]["status"], "resetting");
}

TEST(StateJson, WhatIsNotKnownIsAbsentAndNotZero) {
    machine_state state;
    state.instances.emplace_back().devices.emplace_back();
    const auto d = to_json(state)["instances"][0]["devices"][0];
    EXPECT_FALSE(d.contains("sram_uncorrected"));
    EXPECT_FALSE(d.contains("connected"));
    EXPECT_FALSE(state_of(to_json(state)).instances[0].devices[0].sram_uncorrected);
}

TEST(StateJson, AnEmptyListOfNeighboursIsKnown) {
    machine_state state;
    state.instances.emplace_back().devices.emplace_back().connected.emplace();
    EXPECT_TRUE(state_of(to_json(state)).instances[0].devices[0].connected);
}

TEST(StateJson, NamesTheFieldOfAWrongType) {
    const std::vector<std::pair<const char*, const char*>> wrong_states{
        {R"({"instances":[{"devices":[{"index":-1}]}]})", "instances[0].devices[0].index"},
        {R"({"instances":{}})", "instances"},
        {R"({"wall_ms":"now"})", "wall_ms"},
        {R"({"instances":[{"devices":[{"status":"well"}]}]})", "devices[0].status"},
        {R"({"instances":[{"devices":[{"index":4294967296}]}]})", "devices[0].index"}};
    for (const auto& [text, place] : wrong_states) try {
            state_of(json::parse(text));
            ADD_FAILURE() << text;
        } catch (const state_error& wrong) {
            EXPECT_THAT(wrong.what(), HasSubstr(place));
        }
}

TEST(StateJson, AcceptsFieldsThatItDoesNotKnow) {
    EXPECT_EQ(state_of(json::parse(R"({"wall_ms":3,"tomorrow":[1]})")).wall_ms, 3u);
}

TEST(StateJson, HasWhatTheSchemaRequires) {
    const auto empty = to_json(machine_state()), schema = state_schema();
    for (const auto& name : schema["required"]) EXPECT_TRUE(empty.contains(name)) << name;
}

TEST(StateJson, SchemaHasEveryFieldThatIsWritten) {
    const auto properties = state_schema()["properties"];
    const auto written = to_json(test::torus());
    for (const auto& [name, value] : written.items())
        EXPECT_TRUE(properties.contains(name)) << name;
    const auto of_device =
        properties["instances"]["items"]["properties"]["devices"]["items"]["properties"];
    EXPECT_EQ(of_device["celsius"]["items"]["type"], "number");
}

}  // namespace
