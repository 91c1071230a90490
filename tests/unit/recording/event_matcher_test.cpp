// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/event_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace trn::recording {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

struct EventMatcher : testing::Test {
    const test::scratch_folder folder;

    static event read_of(std::uint64_t address) {
        return {.type = kind::has_read, .address = address, .size = 4};
    }
    /// A recording of one function: a reset by its host, and the given reads of its memory.
    event_matcher recorded(std::initializer_list<std::uint64_t> reads, bool same) const {
        log_writer log(folder);
        for (const auto address : reads) log.write(read_of(address));
        log.write({.type = kind::reset});
        log.finish();
        return {{"chip0"}, log_reader(folder), same};
    }
};

TEST_F(EventMatcher, ReturnsEventsFromOutsideAndKeepsTheOthers) {
    auto events = recorded({0x10}, true);
    EXPECT_EQ(events.next()->type, kind::reset);
    EXPECT_FALSE(events.next());
    EXPECT_EQ(events.expect(read_of(0x10)), read_of(0x10));
    EXPECT_EQ(events.found().differences, 0);
}

TEST_F(EventMatcher, ReportsAnotherOrderOnTheRecordedPlatformOnly) {
    auto same = recorded({0x10, 0x20}, true);
    EXPECT_TRUE(same.expect(read_of(0x20)));
    EXPECT_THAT(same.found().first,
                ElementsAre(Field(&event_matcher::difference::text, HasSubstr("another order"))));
    auto other = recorded({0x10, 0x20}, false);
    EXPECT_TRUE(other.expect(read_of(0x20)));
    EXPECT_EQ(other.found().differences, 0);
}

TEST_F(EventMatcher, ReportsAnAccessThatWasNotRecorded) {
    auto events = recorded({0x10}, false);
    EXPECT_FALSE(events.expect(read_of(0x30)));
    EXPECT_THAT(events.found().first,
                ElementsAre(Field(&event_matcher::difference::text,
                                  "chip0: DMA read of 4 bytes at 0x30: not in the recording")));
}

TEST_F(EventMatcher, ReportsTheRecordedAccessesThatDidNotHappen) {
    auto events = recorded({0x10, 0x20, 0x30}, true);
    EXPECT_TRUE(events.expect(read_of(0x10)));
    events.report_missing();
    EXPECT_THAT(
        events.found().first,
        ElementsAre(Field(&event_matcher::difference::text,
                          "chip0: 2 recorded accesses to its host did not happen, first a DMA "
                          "read")));
}

}  // namespace
}  // namespace trn::recording
