// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/gdb_packet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using namespace std::string_literals;
using trn::gdb::frame;
using trn::gdb::packet_reader;

struct recorder {
    std::vector<std::string> packets;
    std::string answers;
    int interrupts = 0;
    packet_reader reader{{[this](std::string_view b) { packets.emplace_back(b); },
                          [this] { ++interrupts; }, [this](std::string_view a) { answers += a; }}};
};

TEST(GdbPacketTest, FramesWithChecksumAndEscapes) {
    EXPECT_EQ(frame("OK"), "$OK#9a");
    EXPECT_EQ(frame("}"), "$}]#da");
}

TEST(GdbPacketTest, ReadsBackWhatItFrames) {
    recorder r;
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    for (const char c : frame(all)) r.reader.feed(std::string_view(&c, 1));  // byte by byte
    EXPECT_EQ(r.packets, std::vector{all});
    EXPECT_EQ(r.answers, "+");
}

TEST(GdbPacketTest, AWrongChecksumIsRefusedAndTheNextPacketRead) {
    recorder r;
    r.reader.feed("$g#00$g#zz$g#67");
    EXPECT_EQ(r.packets, std::vector{"g"s});
    EXPECT_EQ(r.answers, "--+");
}

TEST(GdbPacketTest, InterruptsCountBetweenPacketsOnly) {
    recorder r;
    r.reader.feed("\x03+$X0,1:\x03#");
    EXPECT_EQ(r.interrupts, 1);
}

TEST(GdbPacketTest, AnEndlessPacketIsDroppedAndCostsBoundedMemory) {
    recorder r;
    r.reader.feed("$");
    for (int i = 0; i < 100; ++i) r.reader.feed(std::string(trn::gdb::largest_packet, 'a'));
    r.reader.feed("#00" + frame("?"));
    EXPECT_EQ(r.packets, std::vector{"?"s});
}

TEST(GdbPacketTest, SurvivesNoise) {
    recorder r;
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const char c = "$#}*+-\x03 abq"[random() % 11];
        r.reader.feed(std::string_view(&c, 1));
    }
    r.reader.feed("#00#00" + frame("?"));
    ASSERT_FALSE(r.packets.empty());
    EXPECT_EQ(r.packets.back(), "?");
}

}  // namespace
