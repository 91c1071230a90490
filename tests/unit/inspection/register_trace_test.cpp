// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/register_trace.h"

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tlm>

#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/registers/example_regs.h"

namespace {

using namespace trn;
using example_regs::reg;
using sc_core::SC_NS;
using testing::ElementsAre;
using testing::Pair;

/// A block with registers and lines; its STATUS counts what the model has done.
class block : public sc_core::sc_module {
public:
    explicit block(sc_core::sc_module_name name) : sc_module(name) {
        regs.view(reg::status, [this](unsigned, unsigned) { return done; });
        irq.bind(lines, 1);
    }
    void write(std::uint64_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_WRITE_COMMAND, address, &value, 4);
        auto delay = sc_core::SC_ZERO_TIME;
        regs.access(payload, delay);
        EXPECT_TRUE(payload.is_response_ok());
    }

    register_bank regs{example_regs::table};
    irq_out irq{"irq"};
    irq_in lines{"lines", 3, [](unsigned, bool) {}};
    std::uint64_t done = 1;
};

/// Changes of a signal in a value change dump, in ps.
using changes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::map<std::string, changes> read_dump(const std::string& file) {
    std::ifstream in(file);
    std::map<std::string, std::string> names;  // by identifier
    std::map<std::string, changes> all;
    std::uint64_t now = 0;
    std::string scope;
    bool is_header = true;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string first;
        if (!(words >> first)) continue;
        if (first == "$scope") {
            std::string kind, name;
            words >> kind >> name;
            scope = name == "SystemC" ? "" : scope + name + ".";
        } else if (first == "$upscope") {
            scope = scope.substr(0, scope.rfind('.', scope.size() < 2 ? 0 : scope.size() - 2) + 1);
        } else if (first == "$var") {
            std::string kind, width, id, name;
            words >> kind >> width >> id >> name;
            names[id] = scope + name;
        } else if (first == "$enddefinitions") {
            is_header = false;
        } else if (is_header) {
            continue;
        } else if (first[0] == '#') {
            now = std::stoull(first.substr(1));
        } else if (first[0] == 'b') {
            std::string id;
            words >> id;
            all[names.at(id)].emplace_back(now, std::stoull(first.substr(1), nullptr, 2));
        } else if (first[0] == '0' || first[0] == '1') {
            all[names.at(first.substr(1))].emplace_back(now, first[0] - '0');
        }
    }
    return all;
}

class StandardTrace : public testing::Test {
protected:
    /// The changes after 10 ns of each, as the testbench's own file has them.
    std::map<std::string, changes> dump(const std::function<void(sc_core::sc_trace_file*)>& trace,
                                        const std::function<void(int ns)>& at) {
        const test::scratch_folder folder;
        auto* const file = sc_core::sc_create_vcd_trace_file((folder / "bench").c_str());
        file->set_time_unit(1, sc_core::SC_PS);
        trace(file);
        sc_core::sc_spawn([&] {
            for (int ns = 10; ns < 60; ns += 10) {
                sc_core::wait(10, SC_NS);
                at(ns);
            }
        });
        sc_core::sc_start(60, SC_NS);
        sc_core::sc_close_vcd_trace_file(file);
        return read_dump(folder / "bench.vcd");
    }
    block dut{"dut"};
};

TEST_F(StandardTrace, ShowsLinesWhenTheyChange) {
    const auto seen = dump(
        [&](auto* file) {
            sc_trace(file, dut.irq, "irq");
            sc_trace(file, dut.lines, "lines");
        },
        [&](int ns) { dut.irq.set(ns == 20 || ns == 30); });
    EXPECT_THAT(seen.at("irq"), ElementsAre(Pair(0, 0), Pair(20'000, 1), Pair(40'000, 0)));
    EXPECT_THAT(seen.at("lines_1"), ElementsAre(Pair(0, 0), Pair(20'000, 1), Pair(40'000, 0)));
    EXPECT_THAT(seen.at("lines_2"), ElementsAre(Pair(0, 0)));
}

TEST_F(StandardTrace, ShowsStoredRegistersAndFieldsWhenTheyChange) {
    const auto seen = dump(
        [&](auto* file) {
            trace_by_name(file, "dut.PLAIN[2]");
            trace_by_name(file, "dut.CONTROL.MODE");
        },
        [&](int ns) {
            if (ns == 10) dut.write(0x108, 7);
            if (ns == 20) dut.write(0x0, 0x21);
            if (ns == 30) dut.regs.set(reg::plain, 9, 2);  // by the model
            if (ns == 40) dut.regs.reset();
        });
    EXPECT_THAT(seen.at("dut.PLAIN_2"),
                ElementsAre(Pair(0, 0), Pair(10'000, 7), Pair(30'000, 9), Pair(40'000, 0)));
    EXPECT_THAT(seen.at("dut.CONTROL.MODE"),
                ElementsAre(Pair(0, 1), Pair(20'000, 2), Pair(40'000, 1)));
}

TEST_F(StandardTrace, ShowsComputedRegistersAtAccessesAndOnRequest) {
    const auto seen = dump([&](auto* file) { trace_by_name(file, "dut.example.STATUS"); },
                           [&](int ns) {
                               if (ns == 10) dut.done = 2;
                               if (ns == 20) dut.write(0x100, 1);
                               if (ns == 30) dut.done = 3;
                               if (ns == 40) refresh_traces();
                           });
    EXPECT_THAT(seen.at("dut.example.STATUS"),
                ElementsAre(Pair(0, 1), Pair(20'000, 2), Pair(40'000, 3)));
}

TEST_F(StandardTrace, ShowsAWholeBank) {
    const auto seen = dump([&](auto* file) { sc_trace(file, dut.regs, "all"); },
                           [&](int ns) {
                               if (ns == 10) dut.write(0x2028, 5);
                           });
    EXPECT_THAT(seen.at("all.Q_BASE_1"), ElementsAre(Pair(0, 0), Pair(10'000, 5)));
    EXPECT_THAT(seen.at("all.CONTROL"), ElementsAre(Pair(0, 0x0300'0010)));
    EXPECT_EQ(seen.size(), example_regs::table.slots);
}

TEST_F(StandardTrace, ShowsOtherStateOnRequest) {
    const auto seen = dump(
        [&](auto* file) {
            sc_trace(file, watched_signal::of_number("", 3, [&] { return dut.done; }), "state");
        },
        [&](int ns) {
            if (ns == 10) dut.done = 5;
            if (ns == 20) refresh_traces();
        });
    EXPECT_THAT(seen.at("state"), ElementsAre(Pair(0, 1), Pair(20'000, 5)));
}

TEST_F(StandardTrace, RefusesNamesThatTheBoardDoesNotHave) {
    const auto refusal = [](const char* name) {
        try {
            trace_by_name(nullptr, name);
        } catch (const std::invalid_argument& why) {
            return std::string(why.what());
        }
        return std::string();
    };
    EXPECT_THAT(refusal("dut.CONTROLL"), testing::HasSubstr("did you mean 'dut.CONTROL'?"));
    EXPECT_THAT(refusal("dut.PLAIN[8]"), testing::HasSubstr("8 is not below 8"));
    EXPECT_THAT(refusal("dut.PLAIN[0,1,2]"), testing::HasSubstr("NAME[INSTANCE,INDEX]"));
    EXPECT_THAT(refusal("dut.PLAIN[x]"), testing::HasSubstr("NAME[INDEX]"));
    EXPECT_THAT(refusal("dut.PLAIN[1"), testing::HasSubstr("NAME[INDEX]"));
    EXPECT_THAT(refusal("dut.lines[3]"), testing::HasSubstr("3 is not below 3"));
    EXPECT_THAT(refusal("dut.lines[1,2]"), testing::HasSubstr("NAME[LINE] was expected"));
    EXPECT_THAT(refusal("dut.irq[0]"), testing::HasSubstr("NAME was expected"));
    EXPECT_THAT(refusal("dut.PLA[1]IN"), testing::HasSubstr("NAME[INDEX]"));
}

TEST_F(StandardTrace, ChangesNoAccess) {
    const auto value = [&](std::uint64_t address) {
        std::uint32_t read = 0;
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_READ_COMMAND, address, &read, 4);
        auto delay = sc_core::SC_ZERO_TIME;
        dut.regs.access(payload, delay);
        return std::pair(read, payload.get_response_status());
    };
    const std::array addresses{0x0, 0x4, 0xc, 0x14, 0x100, 0x1028};
    dut.write(0x100, 3);
    unsigned written = 0;
    dut.regs.on_write(reg::plain, [&](register_access& a) { written = a.index + 1; });
    std::vector<std::pair<std::uint32_t, tlm::tlm_response_status>> before, after;
    for (const auto address : addresses)
        before.push_back(value(static_cast<std::uint64_t>(address)));
    unsigned changes = 0;
    dut.regs.observe([&] { ++changes; });
    dut.write(0x14c - 0x40, 4);
    EXPECT_EQ(written, 4u);
    EXPECT_GE(changes, 1u);
    for (const auto address : addresses)
        after.push_back(value(static_cast<std::uint64_t>(address)));
    after[3] = before[3];  // EVENTS is cleared by the first read
    EXPECT_EQ(before, after);
    EXPECT_EQ(value(0x14).first, 0u);
}

}  // namespace
