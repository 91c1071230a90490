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
using testing::ThrowsMessage;

struct EventMatcher : testing::Test {
    const test::scratch_folder folder;

    static event read_of(std::uint64_t address) {
        return {.type = kind::has_read, .address = address, .size = 4, .bytes = {1, 2, 3, 4}};
    }
    event_matcher matcher(bool same) const {
        manifest about;
        about.functions = {"chip0"};
        return {about, log_reader(folder), same};
    }
    /// A recording of one function: a reset by its host, and the given reads of its memory.
    event_matcher recorded(std::initializer_list<std::uint64_t> reads, bool same) const {
        log_writer log(folder);
        for (const auto address : reads) log.write(read_of(address));
        log.write({.type = kind::reset});
        log.finish();
        return matcher(same);
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

TEST_F(EventMatcher, ChecksEventsAgainAfterTheSurvey) {
    const auto with = [&](const event& e) {
        log_writer log(folder);
        log.write(e);
        log.write({.type = kind::reset});
        log.finish();
        return matcher(true);
    };
    auto unknown = with({.type = kind::has_read, .function = 1u << 31, .size = 4});
    EXPECT_THAT([&] { unknown.next(); },
                ThrowsMessage<recording_error>(HasSubstr("unknown function")));
    auto longer =
        with({.type = kind::has_read, .address = 0x10, .size = 4, .bytes = {1, 2, 3, 4, 5}});
    EXPECT_FALSE(longer.expect(read_of(0x10)));
    EXPECT_THAT([&] { longer.next(); },
                ThrowsMessage<recording_error>(HasSubstr("its size is not that of its bytes")));
}

}  // namespace
}  // namespace trn::recording
