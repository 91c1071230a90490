// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "platform/app/recording/log/stored_frame.h"
#include "platform/app/recording/log/survey.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/recording/sample.h"

namespace trn::recording {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct RecordingLog : testing::Test {
    const test::scratch_folder folder;

    std::vector<event> read() const {
        log_reader log(folder);
        std::vector<event> all;
        while (auto e = log.next()) all.push_back(std::move(*e));
        return all;
    }
    std::string log_text() const {
        std::ifstream in(folder / events_file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void set_log_text(const std::string& text) const {
        std::ofstream(folder / events_file, std::ios::binary | std::ios::trunc) << text;
    }
    /// Writes `count` incompressible DMA reads of `size` bytes.
    static void write_reads(log_writer& log, unsigned count, std::size_t size) {
        std::uint32_t noise = 1;
        for (unsigned i = 0; i < count; ++i) {
            event e{.type = kind::has_read, .time = i, .address = i * size, .size = size};
            e.bytes.resize(size);
            for (auto& byte : e.bytes)
                byte = static_cast<std::uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
            log.write(e);
        }
    }
};

TEST_F(RecordingLog, ReadsBackEveryEventTypeAsWritten) {
    log_writer log(folder);
    for (const auto& e : test::sample_events()) log.write(e);
    log.finish();
    EXPECT_EQ(read(), test::sample_events());
    EXPECT_FALSE(fs::exists(folder / tail_file));
}

TEST_F(RecordingLog, AcceptsEventsLargerThanAFrame) {
    log_writer log(folder);
    for (const std::size_t size : {std::size_t{5}, log_writer::frame_size - 1,
                                   log_writer::frame_size + 1, event::largest, std::size_t{7}})
        log.write({.type = kind::has_read, .size = size, .bytes = std::vector<std::uint8_t>(size)});
    log.finish();
    std::vector<std::size_t> sizes;
    for (const auto& e : read()) sizes.push_back(e.bytes.size());
    EXPECT_THAT(sizes, testing::ElementsAre(5, log_writer::frame_size - 1,
                                            log_writer::frame_size + 1, event::largest, 7));
}

TEST_F(RecordingLog, IsCompleteWhenItsWriterIsKilled) {
    const pid_t writer = fork();
    if (writer == 0) {
        log_writer log(folder);
        write_reads(log, 100, 10'000);  // one full frame, the rest in the tail
        raise(SIGKILL);
    }
    waitpid(writer, nullptr, 0);
    EXPECT_GT(fs::file_size(folder / events_file), 0u);
    const auto all = read();
    ASSERT_EQ(all.size(), 100u);
    EXPECT_EQ(all.back().address, 99u * 10'000);
}

TEST_F(RecordingLog, TruncatedAnywhereReadsAsAPrefix) {
    {
        log_writer log(folder);
        write_reads(log, 200, 10'000);
        log.finish();
    }
    const auto text = log_text();
    std::size_t before = 0;
    for (std::size_t length = 0; length < text.size(); length += 49'999) {
        set_log_text(text.substr(0, length));
        const auto events = read().size();
        EXPECT_GE(events, before);
        EXPECT_LT(events, 200u);
        before = events;
    }
    EXPECT_GT(before, 0u);
}

TEST_F(RecordingLog, TailAlreadyInTheLogIsReadOnce) {
    {
        log_writer log(folder);
        write_reads(log, 3, 100);
        fs::copy_file(folder / tail_file, folder / "kept");
        log.finish();
    }
    fs::rename(folder / "kept", folder / tail_file);
    EXPECT_EQ(read().size(), 3u);
}

TEST_F(RecordingLog, NamesTheDamagedFrame) {
    {
        log_writer log(folder);
        write_reads(log, 200, 10'000);
        log.finish();
    }
    auto text = log_text();
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 0x10);
    set_log_text(text);
    EXPECT_THAT([&] { read(); }, ThrowsMessage<recording_error>(testing::AllOf(
                                     HasSubstr("events.zst: frame "), HasSubstr("is damaged"))));
    set_log_text("this is a text file");
    EXPECT_THAT([&] { read(); }, ThrowsMessage<recording_error>(HasSubstr("not a zstd frame")));
}

TEST(StoredFrames, AreFramesOfZstdWithAChecksum) {
    for (const std::size_t size : {0u, 1u, 3u, 4u, 7u, 8u, 31u, 32u, 33u, 63u, 100u, 128u << 10,
                                   (128u << 10) + 1, 512u << 10, (1u << 20) + 5}) {
        std::vector<std::uint8_t> bytes(size), back(size + 1);
        std::uint32_t noise = 7;
        for (auto& byte : bytes)
            byte = static_cast<std::uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
        std::ostringstream out;
        const auto written = write_stored_frame(out, bytes);
        auto frame = out.str();
        EXPECT_EQ(frame.size(), written);
        EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), size);
        EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), frame.data(), frame.size()), size);
        back.resize(size);
        EXPECT_EQ(back, bytes);
        frame.back() = static_cast<char>(frame.back() ^ 1);
        EXPECT_TRUE(
            ZSTD_isError(ZSTD_decompress(back.data(), back.size(), frame.data(), frame.size())));
    }
}

TEST_F(RecordingLog, RequiresAnExistingFolder) {
    EXPECT_THAT([&] { log_writer(folder / "none"); },
                ThrowsMessage<recording_error>(HasSubstr("cannot write")));
    EXPECT_THAT([&] { log_reader(folder / "none"); },
                ThrowsMessage<recording_error>(HasSubstr("cannot read")));
}

TEST(RecordingEvents, DamagedBytesDoNotDecodeAsEvents) {
    const auto refused = [](std::vector<std::uint8_t> bytes) {
        std::span<const std::uint8_t> from(bytes);
        EXPECT_THAT([&] { decoder().decode(from); },
                    ThrowsMessage<recording_error>(HasSubstr("is damaged")));
    };
    refused({0, 0});           // no such kind
    refused({4, 2});           // no such flag
    refused({4, 0, 0x80, 0});  // number not in its shortest encoding
    refused({4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2});
    refused({4, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0});  // function
    refused({4, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xf});   // bytes
}

TEST(RecordingEvents, StoreShortWritesAndDigestsOfLongOnes) {
    std::vector<std::uint8_t> bytes(max_kept, 7);
    EXPECT_EQ(kept(bytes), bytes);
    bytes.resize(1001, 7);
    const auto digest = kept(bytes);
    EXPECT_EQ(digest.size(), 8u);
    for (const std::size_t at : {std::size_t{0}, std::size_t{500}, std::size_t{1000}}) {
        auto other = bytes;
        other[at] ^= 1;
        EXPECT_NE(kept(other), digest) << at;
    }
}

TEST_F(RecordingLog, IsCheckedBeforeAReplay) {
    const auto look = [&](std::vector<event> events) {
        log_writer log(folder);
        for (const auto& e : events) log.write(e);
        log.finish();
        log_reader reader(folder);
        return read_survey(reader, test::sample_manifest());
    };
    const auto found = look(test::sample_events());
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.from_outside + found.from_inside, test::sample_events().size());
    EXPECT_EQ(found.bytes_read, 6u);
    EXPECT_EQ(found.last_time, test::sample_events().back().time);
    const auto refused = [&](std::vector<event> events, const std::string& why) {
        EXPECT_THAT([&] { look(events); }, ThrowsMessage<recording_error>(HasSubstr(why)));
    };
    refused({{.type = kind::reset, .function = 1}}, "unknown function or console number");
    refused({{.type = kind::typed, .function = 1}}, "unknown function or console number");
    refused({{.type = kind::bar_write, .size = 4, .bytes = {1}}}, "its size is not");
    refused({{.type = kind::bar_read, .size = event::largest + 1}}, "so much at once");
    refused({{.type = kind::control, .bytes = {'{', '}'}}}, "not a call");
    refused({{.type = kind::end}, {.type = kind::reset}}, "after the end");
}

TEST(RecordingManifest, ManifestAndEventsMustBeRegularFiles) {
    const test::scratch_folder folder;
    for (const auto* name : {manifest_file, events_file})
        std::filesystem::create_directory(folder / name);
    EXPECT_THAT([&] { read_manifest(folder.text()); },
                ThrowsMessage<recording_error>(HasSubstr("manifest.json is missing")));
    EXPECT_THAT([&] { log_reader reader(folder.text()); },
                ThrowsMessage<recording_error>(HasSubstr("not a regular file")));
}

TEST(RecordingManifest, ReadsBackAsWritten) {
    EXPECT_EQ(parse_manifest(to_json(test::sample_manifest())), test::sample_manifest());
}

TEST(RecordingManifest, RefusesInvalidFieldsWithAMessage) {
    const auto refused = [](const std::string& text, const std::string& why) {
        EXPECT_THAT([&] { parse_manifest(text); }, ThrowsMessage<recording_error>(HasSubstr(why)))
            << text;
    };
    const auto changed = [](const std::string& from, const std::string& to) {
        auto text = to_json(test::sample_manifest());
        return text.replace(text.find(from), from.size(), to);
    };
    refused("", "not a JSON object");
    refused("[]", "not a JSON object");
    refused("{}", "not a recording of trnvp");
    refused(changed("\"format_version\": 1", "\"format_version\": 2"), "reads version 1");
    refused(changed("\"seed\"", "\"sed\""), "seed");
    refused(changed("\"boards/trn3-chip.yaml\"", "\"/etc/passwd\""), "not a file of the recording");
    refused(changed("\"firmware/0-flash.img\"", "\"a/../../b\""), "not a file of the recording");
    refused(changed("\"functions\": [", "\"functions\": [7,"),
            "'functions' must be a list of texts");
    refused(changed("\"functions\": [", "\"functions\": {}, \"x\": ["),
            "'functions' must be a list");
    refused(changed("\"seed\": 18446744073709551615", "\"seed\": -1"), "'seed' must be a number");
    refused(changed("\"seed\": 18446744073709551615", "\"seed\": 1.5"), "'seed' must be a number");
    refused(changed("\"digest\": ", "\"digest\": null, \"x\": "), "'digest' must be a text");
    refused(changed("\"firmware/0-flash.img\"", "7"), "'flash.img' must be a text");
    refused(changed("\"functional\"", "\"fast\""), "'timing' must be contended or functional");
}

}  // namespace
}  // namespace trn::recording
