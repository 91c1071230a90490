// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
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

    void feed(std::string_view bytes) {
        while (!bytes.empty()) bytes = reader.feed(bytes);
    }
};

TEST(GdbPacketTest, FramesWithChecksumAndEscapes) {
    EXPECT_EQ(frame("OK"), "$OK#9a");
    EXPECT_EQ(frame("}"), "$}]#da");
}

TEST(GdbPacketTest, ReadsBackWhatItFrames) {
    recorder r;
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    for (const char c : frame(all)) r.feed(std::string_view(&c, 1));  // byte by byte
    EXPECT_EQ(r.packets, std::vector{all});
    EXPECT_EQ(r.answers, "+");
}

TEST(GdbPacketTest, WrongChecksumIsRefusedAndTheNextPacketRead) {
    recorder r;
    r.feed("$g#00$g#zz$g#67");
    EXPECT_EQ(r.packets, std::vector{"g"s});
    EXPECT_EQ(r.answers, "--+");
}

TEST(GdbPacketTest, InterruptByteCountsBetweenPacketsOnly) {
    recorder r;
    r.feed("\x03+$X0,1:\x03#");
    EXPECT_EQ(r.interrupts, 1);
}

TEST(GdbPacketTest, UnterminatedPacketIsDroppedWithinBoundedMemory) {
    recorder r;
    r.feed("$");
    for (int i = 0; i < 100; ++i) r.feed(std::string(trn::gdb::largest_packet, 'a'));
    r.feed("#00" + frame("?"));
    EXPECT_EQ(r.packets, std::vector{"?"s});
}

TEST(GdbPacketTest, ParsingResumesInAnotherReaderAfterAnyByte) {
    recorder one;
    EXPECT_EQ(one.reader.feed("+$g#67\x03$m0,4#"), "\x03$m0,4#");
    EXPECT_EQ(one.reader.feed("\x03$m0,4#"), "$m0,4#");
    one.reader.without_acknowledgement();
    const auto all = frame("a}b$c") + frame("?");
    for (std::size_t cut = 0; cut < all.size(); ++cut) {
        recorder first, second;
        first.reader.without_acknowledgement();
        first.feed(std::string_view(all).substr(0, cut));
        second.reader.take_over(
            nlohmann::json::from_cbor(nlohmann::json::to_cbor(first.reader.hand_over())));
        second.feed(std::string_view(all).substr(cut));
        std::ranges::copy(second.packets, std::back_inserter(first.packets));
        EXPECT_EQ(first.packets, (std::vector{"a}b$c"s, "?"s})) << cut;
        EXPECT_EQ(second.answers, "") << cut;
    }
}

TEST(GdbPacketTest, FirstBytesTellADebuggerFromAnotherClient) {
    using trn::gdb::judge_opening;
    using trn::gdb::opening;
    for (const auto& text : {frame("qSupported:multiprocess+"), "+" + frame("?"),
                             "\x03" + frame("?"), "+" + frame("k") + "GET / HTTP/1.1"})
        EXPECT_EQ(judge_opening(text), opening::debugger) << text;
    for (const auto* text : {"", "+", "\x03", "++$", "+$qSupported", "$?#", "$?#3"})
        EXPECT_EQ(judge_opening(text), opening::incomplete) << text;
    for (const auto& text :
         {"POST / HTTP/1.1\r\nHost: x\r\n\r\n$k#6b"s, "\r\n$k#6b"s, "GET"s, "P"s, "+P"s, "-$k#6b"s,
          "k"s, "$k#00"s, "$k#zz"s, "#"s, "{\"jsonrpc\""s, "\x16\x03\x01"s, std::string(16, '+'),
          "$" + std::string(trn::gdb::largest_packet, 'a'), std::string(1, '\0')})
        EXPECT_EQ(judge_opening(text), opening::stranger) << text;
}

TEST(GdbPacketTest, SurvivesRandomBytes) {
    recorder r;
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const char c = "$#}*+-\x03 abq"[random() % 11];
        r.feed(std::string_view(&c, 1));
    }
    r.feed("#00#00" + frame("?"));
    ASSERT_FALSE(r.packets.empty());
    EXPECT_EQ(r.packets.back(), "?");
}

}  // namespace
