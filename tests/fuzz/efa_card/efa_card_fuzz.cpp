// SPDX-License-Identifier: Apache-2.0
// A hostile host: arbitrary admin commands, page lists, work requests, receives, doorbells and
// register writes on one EFA card, whose host may share its memory by messages only, while two
// other cards of the fabric copy data. Their copies stay correct, and after each reset the hostile
// host's card works as initially.
#include <cstdint>
#include <cstdlib>

#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "platform/framework/log.h"
#include "tests/support/cards/efa_work.h"
#include "tests/support/fuzz.h"
#include "tests/unit/cards/efa/card/verbs_driver.h"

namespace {

using namespace trn;
using namespace test::efa_work;
using test::fuzz_random;
using test::verbs_driver;

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    const efa_card::config cfg{.keep_alive = sc_core::SC_ZERO_TIME};
    verbs_driver hostile("hostile", cfg), b("b", cfg), c("c", cfg);
    ethernet_fabric net("net", {.ports = 3});
    net.port[0].join(hostile.card.net);
    net.port[1].join(b.card.net);
    net.port[2].join(c.card.net);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    b.start();
    c.start();
    copier left(b, c), right(c, b);
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        // Reset: the card may still write to memory that is allocated again.
        hostile.set(0x54, 1);
        hostile.set(0x54, 0);
        hostile.forget();
        hostile.messages.attach(random.below(2) == 0);
        c.messages.attach(random.below(4) == 0);
        hostile.expects_answers = true;
        hostile.start();
        copier own(hostile, hostile);
        const std::uint16_t to_victim = hostile.create_ah(own.pd, b.gid());
        copy_and_compare(own, own, random);
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
                if (random.below(2) == 0)
                    some_work(own, own, own.ah, random);
                else
                    some_work(own, left, to_victim, random);
            }
            if (random.below(16) == 0) disturb(hostile.messages, random);
            if (random.below(8) == 0) verbs_driver::run(static_cast<double>(1 + random.below(300)));
        }
        copy_and_compare(left, right, random);
        copy_and_compare(right, left, random);
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
