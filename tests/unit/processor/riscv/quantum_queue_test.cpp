// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/quantum_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
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
        bool continues() const override { return is_resumed; }
        const std::string name;
        std::function<void()> ended;
        bool is_resumed = false;
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

TEST_F(QuantumQueueTest, OthersWaitWhileADebuggerHoldsOneWithinItsQuantum) {
    a.ended = [&] {
        note(a);
        queue->hold(a);
        a.is_resumed = true;
    };
    for (processor* each : {&a, &b}) queue->schedule(*each, 10 * us);
    sc_core::sc_spawn([&] {
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
        for (int deltas = 0; deltas < 3; ++deltas) sc_core::wait(sc_core::SC_ZERO_TIME);
        EXPECT_TRUE(queue->defers(c)) << "an interrupt wakes it";
        log.emplace_back("released");
        queue->release(a);
    });
    run(20);
    EXPECT_EQ(log, (entries{"a@10", "released", "c@10", "b@10"}));
}

TEST_F(QuantumQueueTest, OthersGoOnWhenTheHeldOneStaysHalted) {
    a.ended = [&] {
        note(a);
        queue->hold(a);
    };
    for (processor* each : {&a, &b, &c}) queue->schedule(*each, 10 * us);
    run(20);
    EXPECT_EQ(log, (entries{"a@10", "b@10", "c@10"}));
}

TEST_F(QuantumQueueTest, SeedsVaryLengthsAndOrder) {
    EXPECT_EQ(queue->length(a, 10'000), 10'000u);
    EXPECT_FALSE(queue->varies());
    std::set<std::string> orders;
    std::set<std::uint64_t> lengths;
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
        const auto varied = std::make_shared<quantum_queue>(seed);
        processor first{varied, "first"}, second{varied, "second"};
        std::string order;
        for (processor* each : {&first, &second}) {
            each->ended = [&order, each] { order += each->name + " "; };
            varied->schedule(*each, sc_core::sc_time_stamp().value() + us);
        }
        run(2);
        orders.insert(order);
        lengths.insert(varied->length(first, 1000));
        EXPECT_EQ(varied->length(first, 1000), varied->length(first, 1000));
        EXPECT_LE(varied->length(second, 1000), 1000u);
        EXPECT_GE(varied->length(second, 1), 1u);
    }
    EXPECT_EQ(orders, (std::set<std::string>{"first second ", "second first "}));
    EXPECT_EQ(*lengths.begin(), 1u);
    EXPECT_GT(*lengths.rbegin(), 500u);
    EXPECT_GT(lengths.size(), 20u);
}

}  // namespace trn::test
