// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/quantum_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trn::test {

namespace {

constexpr std::uint64_t us = 1'000'000;  // in ps

}  // namespace

class QuantumQueueTest : public testing::Test {
protected:
    struct processor : quantum_queue::client {
        processor(std::shared_ptr<quantum_queue> queue, std::string called)
            : client(std::move(queue)), name(std::move(called)) {}
        void quantum_ended() override {
            if (ended) ended();
        }
        const std::string name;
        std::function<void()> ended;
    };
    std::shared_ptr<quantum_queue> queue = std::make_shared<quantum_queue>();
    processor a{queue, "a"}, b{queue, "b"}, c{queue, "c"};
    std::vector<std::string> log;  // "name@us"

    QuantumQueueTest() {
        for (processor* each : {&a, &b, &c}) each->ended = [this, each] { note(*each); };
    }
    void note(const processor& of) {
        log.push_back(of.name + "@" + std::to_string(sc_core::sc_time_stamp().value() / us));
    }
    static void run(double duration_us) {
        sc_core::sc_start(sc_core::sc_time(duration_us, sc_core::SC_US));
    }
    using entries = std::vector<std::string>;
};

TEST_F(QuantumQueueTest, ThoseDueTogetherAreActivatedInTheOrderOfTheirConstruction) {
    queue->schedule(c, 10 * us);
    queue->schedule(a, 10 * us);
    queue->schedule(b, 10 * us);
    run(20);
    EXPECT_EQ(log, (entries{"a@10", "b@10", "c@10"}));
}

TEST_F(QuantumQueueTest, AnEarlierActivationThatIsScheduledLaterComesFirst) {
    queue->schedule(a, 10 * us);
    queue->schedule(b, 5 * us);
    queue->schedule(c, 7 * us);
    run(20);
    EXPECT_EQ(log, (entries{"b@5", "c@7", "a@10"}));
}

TEST_F(QuantumQueueTest, AProcessorCanBeScheduledAgainFromItsActivation) {
    b.ended = [this] {
        note(b);
        if (log.size() < 3) queue->schedule(b, sc_core::sc_time_stamp().value() + 2 * us);
    };
    queue->schedule(b, us);
    run(20);
    EXPECT_EQ(log, (entries{"b@1", "b@3", "b@5"}));
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(QuantumQueueTest, AWithdrawnActivationLeavesNoEvent) {
    queue->schedule(a, 10 * us);
    queue->cancel(a);
    queue->cancel(a);
    EXPECT_EQ(queue->until_next(), quantum_queue::never);
    EXPECT_FALSE(sc_core::sc_pending_activity());
    queue->schedule(a, 5 * us);
    queue->schedule(b, 10 * us);
    queue->cancel(a);
    EXPECT_EQ(sc_core::sc_time_to_pending_activity(), sc_core::sc_time(10, sc_core::SC_US));
    run(20);
    EXPECT_EQ(log, (entries{"b@10"}));
}

TEST_F(QuantumQueueTest, OneOfAGroupCanWithdrawAnotherBeforeItsTurn) {
    a.ended = [this] {
        note(a);
        queue->cancel(b);
        queue->schedule(b, sc_core::sc_time_stamp().value() + us);
    };
    for (processor* each : {&a, &b, &c}) queue->schedule(*each, 10 * us);
    run(20);
    EXPECT_EQ(log, (entries{"a@10", "c@10", "b@11"}));
}

TEST_F(QuantumQueueTest, TimeToTheNextActivationIsZeroWhileOthersWaitForTheirTurn) {
    std::vector<std::uint64_t> times;
    for (processor* each : {&a, &b, &c})
        each->ended = [this, &times] { times.push_back(queue->until_next()); };
    queue->schedule(a, 10 * us);
    queue->schedule(b, 10 * us);
    queue->schedule(c, 12 * us);
    EXPECT_EQ(queue->until_next(), 10 * us);
    run(20);
    EXPECT_EQ(times, (std::vector<std::uint64_t>{0, 2 * us, quantum_queue::never}));
}

TEST_F(QuantumQueueTest, AProcessorThatEndsWithdrawsItsActivation) {
    {
        processor brief(queue, "brief");
        queue->schedule(brief, us);
    }
    run(20);
    EXPECT_TRUE(log.empty());
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

}  // namespace trn::test
