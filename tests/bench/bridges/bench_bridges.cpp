// SPDX-License-Identifier: Apache-2.0
// Cost of an access by way of bridges and adapters of foreign models. The target copies 4 bytes and
// does not wait; the peers are accesses without a bridge.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/bench/rows.h"

namespace {

using trn::coding_style;
using trn::test::bench_row;

constexpr unsigned accesses = 1'000'000;

/// Nanoseconds of processor time per access.
template <class Body>
double processor_time(Body body) {
    const std::clock_t begin = std::clock();
    body();
    return static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC / accesses;
}

/// Memory that answers in both ways.
template <unsigned Width>
struct plain_target : sc_core::sc_module {
    tlm_utils::simple_target_socket<plain_target, Width> in{"in"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096);
    explicit plain_target(sc_core::sc_module_name name, const sc_core::sc_time& delay = {})
        : sc_module(name), latency(delay) {
        in.register_b_transport(this, &plain_target::b_transport);
        in.register_nb_transport_fw(this, &plain_target::nb_transport_fw);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        std::uint8_t* const mine = bytes.data() + (payload.get_address() & 4092);
        if (payload.is_write())
            std::memcpy(mine, payload.get_data_ptr(), 4);
        else
            std::memcpy(payload.get_data_ptr(), mine, 4);
        delay += latency;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                       sc_core::sc_time& delay) {
        b_transport(payload, delay);
        return tlm::TLM_COMPLETED;
    }
    const sc_core::sc_time latency;
};

/// A method that makes accesses through its port, and repeats those that are deferred.
struct method_initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<method_initiator, 64> out{"out"};
    SC_HAS_PROCESS(method_initiator);
    explicit method_initiator(sc_core::sc_module_name name) : sc_module(name) {
        SC_METHOD(run);
        sensitive << wake;
        dont_initialize();
    }
    void run() {
        for (; left > 0; --left) {
            std::uint32_t word = 0;
            sc_core::sc_time delay;
            if (port.access(tlm::TLM_READ_COMMAND, left * 4, &word, sizeof word, pending, delay) ==
                trn::memory_port::outcome::deferred)
                return;
        }
    }
    double measure() {
        std::vector<double> runs;
        for (int run = 0; run < 5; ++run)
            runs.push_back(processor_time([this] {
                left = accesses;
                wake.notify(sc_core::SC_ZERO_TIME);
                sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_MS));
                if (left != 0) std::abort();
            }));
        return trn::test::median(runs);
    }
    sc_core::sc_event wake;
    trn::pending_access pending{wake};
    trn::memory_port port{out};
    unsigned left = 0;
};

/// Makes accesses by its socket directly.
template <unsigned Width>
struct direct_initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<direct_initiator, Width> out{"out"};
    explicit direct_initiator(sc_core::sc_module_name name) : sc_module(name) {}
    double once() {
        return processor_time([this] {
            std::uint32_t word = 0;
            tlm::tlm_generic_payload payload;
            for (unsigned i = 0; i < accesses; ++i) {
                sc_core::sc_time delay;
                trn::set_access(payload, tlm::TLM_READ_COMMAND, i * 4, &word, sizeof word);
                payload.set_dmi_allowed(false);
                payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
                out->b_transport(payload, delay);
            }
        });
    }
};

/// The medians of runs in turns.
template <class First, class Second>
std::pair<double, double> in_turns(First& first, Second& second) {
    std::vector<double> mine, peer;
    for (int run = 0; run < 9; ++run) {
        mine.push_back(first.once());
        peer.push_back(second.once());
    }
    return {trn::test::median(mine), trn::test::median(peer)};
}

}  // namespace

int sc_main(int argc, char** argv) {
    trn::socket_binder binder;
    method_initiator to_thread("to_thread"), to_phases("to_phases"), alone("alone");
    plain_target<64> waits("waits", {1, sc_core::SC_NS}), has_phases("has_phases"), bare("bare");
    binder.bind(to_thread.out, waits.in, coding_style::restricted, coding_style::loosely_timed);
    binder.bind(to_phases.out, has_phases.in, coding_style::restricted,
                coding_style::approximately_timed);
    binder.bind(alone.out, bare.in);

    direct_initiator<64> narrow("narrow"), plain("plain"), foreign("foreign");
    plain_target<32> narrow_target("narrow_target");
    plain_target<64> plain_target_64("plain_target"), foreign_target("foreign_target");
    binder.bind(narrow.out, narrow_target.in);
    binder.bind(plain.out, plain_target_64.in);
    binder.bind(foreign.out, foreign_target.in, coding_style::loosely_timed);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    std::vector<bench_row> rows;
    const double direct = alone.measure();
    const auto row = [&](const char* name, double value) {
        rows.push_back({name, value, "ns", "at most 150 ns", value <= 150, "no bridge", direct});
    };
    row("thread bridge, access", to_thread.measure());
    row("phase bridge, access that the target completes", to_phases.measure());
    constexpr double most = 1.3;
    const auto [adapted, unadapted] = in_turns(narrow, plain);
    rows.push_back({"width adapter, access", adapted, "ns", "at most 1.3 x",
                    adapted <= most * unadapted, "no adapter", unadapted});
    const auto [bridged, unbridged] = in_turns(foreign, plain);
    rows.push_back({"initiator bridge, access that is not deferred", bridged, "ns",
                    "at most 150 ns", bridged <= 150, "no bridge", unbridged});
    return trn::test::report(rows, argc, argv);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
