// SPDX-License-Identifier: Apache-2.0
// A block with every defect, at a chosen time.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace {

volatile int* volatile nowhere = nullptr;

struct hostile : sc_core::sc_module {
    struct config {
        std::string at = "never";  // made, elaborated, running
        std::string does;          // such as "crashes"
    };
    hostile(const sc_core::sc_module_name& name, const config& cfg) : sc_module(name), cfg_(cfg) {
        SC_HAS_PROCESS(hostile);
        SC_METHOD(run);
        fail("made");
    }

private:
    void end_of_elaboration() override { fail("elaborated"); }
    void run() { fail("running"); }
    void fail(const std::string& now) const {
        if (now != cfg_.at) return;
        if (cfg_.does == "throws") throw std::runtime_error("its table is empty");
        if (cfg_.does == "throws_a_number") throw 42;
        if (cfg_.does == "reports") SC_REPORT_ERROR("hostile", "its clock has stopped");
        if (cfg_.does == "crashes") *nowhere = 1;
        if (cfg_.does == "exits") std::exit(0);
        while (cfg_.does == "allocates") kept().emplace_back(std::size_t{64} << 20);
    }
    static std::vector<std::vector<char>>& kept() {
        static std::vector<std::vector<char>> all;
        return all;
    }

    const config cfg_;
};

struct misnamed : sc_core::sc_module {
    struct config {};
    misnamed(const sc_core::sc_module_name& name, const config&) : sc_module(name) {}
};

}  // namespace

TRNVP_KINDS(trn::kind_of<hostile>("hostile", "Fails.",
                                  {{"at", &hostile::config::at, "when: made, elaborated, running"},
                                   {"does", &hostile::config::does, "what"}},
                                  {}),
            trn::kind_of<misnamed>("misnamed", "Has no such socket.", {},
                                   {trn::port::target("registers", "none").of_size(0x1000)}))
