// SPDX-License-Identifier: Apache-2.0
// own_block FILE [BOARD]: a board with a kind of its own, and one of the project, in an sc_main of
// its own.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <systemc>
#include <tlm>

#include "platform/embedding/board_module.h"
#include "platform/framework/bridges/foreign_ports.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace {

/// A read returns its address plus a number.
struct adder : sc_core::sc_module {
    struct config {
        std::uint64_t addend = 0;
    };
    tlm_utils::simple_target_socket<adder, 64> in{"in"};

    adder(const sc_core::sc_module_name& name, const config& cfg)
        : sc_module(name), addend_(cfg.addend) {
        in.register_b_transport(this, &adder::access);
    }

private:
    void access(tlm::tlm_generic_payload& request, sc_core::sc_time&) {
        const std::uint64_t sum = request.get_address() + addend_;
        std::memcpy(request.get_data_ptr(), &sum, request.get_data_length());
        request.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    const std::uint64_t addend_;
};

trn::kind adder_kind() {
    using namespace trn;
    return kind_of<adder>(
        "adder", "Adds to the address.",
        {{"addend", &adder::config::addend, kind_limits::any_number, "what is added"}},
        {foreign_target("in", &adder::in, coding_style::loosely_timed, "sums")
             .unlimited()
             .of_size(0x1000)});
}

struct processor : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<processor, 64> out{"out"};

    explicit processor(const sc_core::sc_module_name& name) : sc_module(name) {
        SC_HAS_PROCESS(processor);
        SC_THREAD(run);
    }
    std::uint64_t sum = 0;

private:
    void run() {
        tlm::tlm_generic_payload request;
        sc_core::sc_time delay;
        request.set_command(tlm::TLM_READ_COMMAND);
        request.set_address(2);
        request.set_data_ptr(reinterpret_cast<unsigned char*>(&sum));
        request.set_data_length(4);
        request.set_streaming_width(4);
        out->b_transport(request, delay);
        if (request.is_response_error()) std::cout << request.get_response_string() << '\n';
    }
};

}  // namespace

int sc_main(int argc, char** argv) {
    trn::kind_list kinds = trn::kinds();
    kinds.push_back(adder_kind());
    trn::board_module board{"board", argc > 1 ? argv[1] : "own.yaml", {}, kinds};
    std::unique_ptr<trn::board_module> of_project;
    if (argc > 2) of_project = std::make_unique<trn::board_module>("of_project", argv[2]);
    processor cpu{"cpu"};
    cpu.out.bind(board.target("bus").in);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    std::cout << "headers " TRNVP_ABI ", library " << TRNVP_ABI_SYMBOL << ": 2 + 40 is " << cpu.sum
              << '\n';
    return cpu.sum == 42 ? 0 : 1;
}
