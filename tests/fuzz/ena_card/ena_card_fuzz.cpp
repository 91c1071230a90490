// SPDX-License-Identifier: Apache-2.0
// A hostile host and a hostile network: arbitrary admin commands, descriptors, doorbells, register
// writes and packets on one ENA card, whose host may share its memory by messages only, while two
// other cards of the switch exchange packets. Their packets arrive unchanged, and after each reset
// the hostile host's card works as initially.
#include <cstdint>
#include <cstdlib>

#include "models/network/ethernet_switch/ethernet_switch.h"
#include "platform/framework/log.h"
#include "tests/support/cards/ena_work.h"
#include "tests/support/fuzz.h"
#include "tests/unit/cards/ena/card/network_driver.h"

namespace {

using namespace trn;
using namespace test::ena_work;
using test::fuzz_random;
using test::network_driver;
using test::require;

/// Packets from the hostile host arrive before the packet that is compared.
void exchange(talker& from, talker& to, fuzz_random& random) {
    network_driver::run(3000);
    require(send_and_compare(from, to, random), "a packet did not arrive");
}

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    const auto config = [](std::uint64_t number) {
        return ena_card::config{.mac = 0x0200'0000'0000 | number,
                                .keep_alive = sc_core::SC_ZERO_TIME};
    };
    network_driver hostile("hostile", config(1)), b("b", config(2)), c("c", config(3));
    ethernet_switch net("net", {.ports = 3});
    net.port[0].join(hostile.card.net);
    net.port[1].join(b.card.net);
    net.port[2].join(c.card.net);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    b.start();
    c.start();
    talker left(b, 2), right(c, 3);
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        hostile.messages.attach(random.below(2) == 0);
        hostile.expects_answers = true;
        hostile.start();
        talker own(hostile, 1);
        exchange(own, left, random);
        exchange(left, own, random);
        // The card may lose its queues, so missing completions are no error.
        hostile.expects_answers = false;
        for (auto n = 5 + random.below(60); n > 0; --n) {
            switch (random.below(4)) {
            case 0:
                some_noise(hostile, random);
                break;
            case 1:
                some_command(hostile, random);
                break;
            default:
                some_descriptors(own, random);
            }
            if (random.below(16) == 0) disturb(hostile.messages, random);
            if (random.below(8) == 0)
                network_driver::run(static_cast<double>(1 + random.below(300)));
        }
        exchange(left, right, random);
        exchange(right, left, random);
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
