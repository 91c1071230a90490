// SPDX-License-Identifier: Apache-2.0
// Sessions of actual clients, recorded by `trnvp run --record` and replayed by `trnvp replay`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "platform/app/recording/log/log.h"
#include "sw-stubs/driver/include/trn_driver.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

std::string text_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A platform that serves its sockets and records to `folder`.
struct RecordedSession : testing::Test {
    scratch_folder folder;
    std::unique_ptr<background> platform;

    void start(const std::string& board, std::vector<std::string> more = {}) {
        std::vector<std::string> words{
            TRNVP,      "run",       board,     "--listen",      folder / "sockets",
            "--record", recording(), "--trace", folder / "trace"};
        words.insert(words.end(), more.begin(), more.end());
        platform = std::make_unique<background>(words, folder / "log");
        ASSERT_TRUE(eventually(
            [&] { return !platform->running() || fs::exists(folder / "sockets/control.sock"); }));
        ASSERT_TRUE(platform->running()) << text_of(folder / "log");
    }
    std::string recording() const { return folder / "recording"; }
    void ctl(const std::string& command) {
        const auto how = run(TRNCTL " --connect " + (folder / "sockets") + " " + command);
        EXPECT_EQ(how.status, 0) << command << ": " << how.output;
    }
    /// Runs Python statements; `p` is the platform.
    void control(const std::string& statements) {
        const auto how =
            run("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=sw-stubs/python python3 -c "
                "'import trnvp_control\nwith trnvp_control.connect(\"" +
                (folder / "sockets") + "\") as p:\n" + statements + "'");
        EXPECT_EQ(how.status, 0) << how.output;
    }
    static json replay(const std::string& arguments) {
        const auto how = run(TRNVP " replay --json " + arguments);
        const auto line = how.output.find("{\"");
        json result =
            json::parse(line == std::string::npos ? "" : how.output.substr(line), nullptr, false);
        EXPECT_TRUE(result.is_object()) << how.output;
        result["status"] = how.status;
        return result;
    }
    /// Replays twice, and checks that both traces equal the recorded one.
    json expect_the_same_trace() {
        json result;
        for (const std::string& trace : {folder / "again", folder / "and-again"}) {
            result = replay(recording() + " --trace " + trace);
            EXPECT_EQ(result["status"], 0) << result;
            EXPECT_EQ(result["differences"], 0) << result;
            EXPECT_EQ(result["same_platform"], true);
            EXPECT_TRUE(text_of(trace) == text_of(folder / "trace")) << trace;
        }
        EXPECT_FALSE(text_of(folder / "trace").empty());
        return result;
    }
};

TEST_F(RecordedSession, DriverSessionReplaysWithTheSameTrace) {
    start("trn3-chip");
    ctl("info");
    ctl("copy host hbm0@16MiB 4MiB --verify");
    ctl("copy hbm0@16MiB hbm3@1000001 1MiB --verify");
    ctl("copy hbm3@1000001 host 100001B --verify");
    ctl("sem set 3 -7 --core 5");
    ctl("event set 9 1 --top-sp 15");
    ctl("power");
    ctl("reset --cores 0x20");
    ctl("reset");
    ctl("memset hbm1@16MiB 64KiB 0xab");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    const auto result = expect_the_same_trace();
    EXPECT_EQ(result["complete"], true);
    EXPECT_GT(result["compared"], 20);
    EXPECT_THAT(text_of(folder / "trace"), HasSubstr(" completed queue="));
}

/// A client reads the policies and what allowances have counted.
TEST_F(RecordedSession, MisuseOptionsAreRepeated) {
    start("trn3-chip",
          {"--misuse", "count:TRN-MEM-005", "--misuse-allow", "rule=TRN-MEM-005,count=1,reason=x"});
    for (const std::string from : {"hbm0@1GiB", "hbm1@1GiB"}) ctl("copy " + from + " host 4KiB");
    ctl("misuse");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    EXPECT_THAT(text_of(folder / "log"), HasSubstr("1 allowed: TRN-MEM-005"));
    expect_the_same_trace();
    const auto manifest = json::parse(text_of(recording() + "/manifest.json"));
    EXPECT_EQ(manifest["misuse"], json::array({"count:TRN-MEM-005"}));
    EXPECT_EQ(manifest["misuse_allow"], json::array({"rule=TRN-MEM-005,count=1,reason=x"}));
}

TEST_F(RecordedSession, ProgramOfTheEnginesReplaysWithTheSameTrace) {
    start("trn3-chip");
    for (const std::string how : {"", " --core 3"})
        ctl("program run scenarios/programs/add.trn --in x=0.75 --check y=1.5" + how);
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    const auto result = expect_the_same_trace();
    EXPECT_GT(result["compared"], 0);
    EXPECT_THAT(text_of(folder / "trace"), HasSubstr("tensor_tensor"));
}

TEST_F(RecordedSession, TwoChipSessionReplaysWithTheSameTrace) {
    start("trn3-chip", {"--set", "devices=2"});
    {
        background other({TRNCTL, "--connect", folder / "sockets", "--chip", "chip1", "copy",
                          "host", "hbm2@16MiB", "8MiB", "--verify"},
                         folder / "other");
        ctl("--chip chip0 copy host hbm0@16MiB 8MiB --verify");
        EXPECT_TRUE(eventually([&] { return !other.running(); }));
        EXPECT_EQ(other.end(), 0) << text_of(folder / "other");
    }
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    expect_the_same_trace();
    EXPECT_THAT(text_of(folder / "trace"), HasSubstr("chip0."));
    EXPECT_THAT(text_of(folder / "trace"), HasSubstr("chip1."));
}

TEST_F(RecordedSession, SessionWithADyingClientReplaysWithTheSameTrace) {
    start("trn3-chip");
    {
        background client({TRNCTL, "--connect", folder / "sockets", "bench", "--largest", "64MiB"},
                          folder / "bench");
        ASSERT_TRUE(
            eventually([&] { return !client.running() || fs::file_size(folder / "bench") > 0; }));
        client.kill_now();
        client.end();
    }
    ctl("copy host hbm0@16MiB 64KiB --verify");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    expect_the_same_trace();
}

TEST_F(RecordedSession, KilledPlatformsSessionReplaysToItsEnd) {
    start("trn3-chip");
    ctl("copy host hbm0@16MiB 1MiB --verify");
    platform->kill_now();
    platform->end();
    const auto result = replay(recording() + " --trace " + (folder / "again"));
    EXPECT_EQ(result["status"], 0) << result;
    EXPECT_EQ(result["complete"], false);
    EXPECT_EQ(result["differences"], 0) << result;
    // The trace may lack its last buffer; the recording must be complete.
    const auto was = text_of(folder / "trace"), is = text_of(folder / "again");
    EXPECT_GT(is.size(), 1000u);
    EXPECT_EQ(was.substr(0, is.size()), is.substr(0, was.size()));
    EXPECT_THAT(is, HasSubstr(" completed queue="));
}

TEST_F(RecordedSession, MessageMemorySessionReplaysWithTheSameTrace) {
    start("trn3-chip");
    trn_transport transport{};
    trn_vfio_user_options options{};
    options.without_descriptors = 1;
    char why[256] = "";
    const std::string socket = folder / "sockets/chip0.sock";
    ASSERT_EQ(trn_vfio_user_transport(socket.c_str(), &options, &transport, why, sizeof why), 0)
        << why;
    trn_device* device = trn_create(&transport, nullptr);
    ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    std::vector<std::uint8_t> sent(300'001), back(sent.size());
    std::iota(sent.begin(), sent.end(), 0);
    const std::uint64_t at = 16 << 20;
    EXPECT_EQ(trn_write(device, 0, at, sent.data(), sent.size()), TRN_OK) << trn_last_error(device);
    EXPECT_EQ(trn_read(device, 0, back.data(), at, back.size()), TRN_OK) << trn_last_error(device);
    EXPECT_EQ(back, sent);
    trn_destroy(device);
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    EXPECT_GT(expect_the_same_trace()["compared"], 100);
}

TEST_F(RecordedSession, ReplaysControlClientsAndConsoles) {
    start("trn3-chip", {"--uart", "socket", "--time-policy", "lockstep"});
    control(
        "  p.wait(condition=\"ready\")\n"
        "  p.poke(\"chip0.hbm0.in\", 0x1000000, b\"from outside\")\n"
        "  p.step()\n"
        "  p.inject(\"chip0.hbm0\", \"hbm_corrected\", offset=0x1000000)\n"
        "  p.type(module=\"chip0.management.uart\", text=\"help\")\n"
        "  p.run()\n"
        "  p.wait(**{\"for\": \"3 us\"})\n");
    ctl("copy hbm0@16MiB hbm1@16MiB 4KiB");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    expect_the_same_trace();
}

TEST_F(RecordedSession, ReportsAnswersThatAreNotUtf8) {
    start("trn3-chip", {"--time-policy", "lockstep"});
    control("  p.call(\"bus_write\", space=\"chip0.management.uart.in\", address=0, value=0xff)\n");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    std::vector<recording::event> events;
    recording::log_reader log(recording());
    while (auto e = log.next()) events.push_back(std::move(*e));
    // Queries the status, as in a recording with different responses.
    const auto written =
        std::ranges::find(events, recording::kind::control, [](const auto& e) { return e.type; });
    ASSERT_NE(written, events.end());
    const std::string call =
        R"({"method":"console","params":{"module":"chip0.management.uart"},"answer":"none"})";
    auto asked = *written;
    asked.bytes.assign(call.begin(), call.end());
    events.insert(written + 1, asked);
    recording::log_writer writer(recording());
    for (const auto& e : events) writer.write(e);
    writer.finish();
    const auto result = replay(recording());
    EXPECT_EQ(result["status"], 1) << result;
    EXPECT_THAT(result["first"].dump(), HasSubstr("control call console: recorded"));
}

TEST_F(RecordedSession, OtherFirmwareReportsDifferencesAndFailsWhenStrict) {
    start("trn3-chip", {"--firmware", FIRMWARE "/mgmt.elf"});
    ctl("copy host hbm0@16MiB 64KiB --verify");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    expect_the_same_trace();
    // Firmware that does not become ready: all waits of the driver time out.
    const std::string other = recording() + " --firmware " FIRMWARE "/hang.elf";
    auto result = replay(other);
    EXPECT_EQ(result["status"], 0) << result;
    EXPECT_EQ(result["same_platform"], false);
    EXPECT_GT(result["differences"], 0);
    EXPECT_THAT(result["first"][0]["text"].dump(),
                HasSubstr("at BAR0 0x6c84024: recorded 0x00000000, now 0xdeadbeef"));
    EXPECT_EQ(replay(other + " --strict")["status"], 1);
    // Replays without the original firmware file, and recognises the file if it is given.
    result = replay(recording() + " --firmware " FIRMWARE "/mgmt.elf");
    EXPECT_EQ(result["same_platform"], true);
    EXPECT_EQ(result["differences"], 0) << result;
}

TEST_F(RecordedSession, OutputsMustNotReplaceFilesOfTheRecording) {
    start("trn3-chip");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    for (const std::string file : {"/events.zst", "/manifest.json", "/boards/trn3-chip.yaml"}) {
        const auto before = text_of(recording() + file);
        const auto how = run(TRNVP " replay " + recording() + " --trace " + recording() + file);
        EXPECT_EQ(how.status, 2) << how.output;
        EXPECT_THAT(how.output, HasSubstr("this file is part of the recording already"));
        EXPECT_EQ(text_of(recording() + file), before);
    }
}

TEST_F(RecordedSession, RecordingThatEndsTooLateIsRefused) {
    start("trn3-chip");
    ctl("copy host hbm0@16MiB 64KiB");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    const auto how = run(TRNVP " replay " + recording() + " --max-time '1 us'");
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("and this replay at 1 us: give it more with --max-time"));
    EXPECT_EQ(replay(recording() + " --max-time '80000 s'")["differences"], 0);
}

TEST_F(RecordedSession, FailsWhenThePlatformDiffersFromTheRecording) {
    using recording::event;
    using recording::kind;
    start("trn3-chip");
    ctl("copy host hbm0@16MiB 64KiB --verify");
    ctl("info");
    EXPECT_EQ(platform->end(), 0) << text_of(folder / "log");
    std::vector<event> events;
    recording::log_reader log(recording());
    while (auto e = log.next()) events.push_back(std::move(*e));
    // The same recording with one event changed.
    const auto expect = [&](kind type, const std::function<void(event&)>& change,
                            const std::string& text) {
        auto changed = events;
        const auto at = std::find_if(changed.rbegin(), changed.rend(),
                                     [&](const event& e) { return e.type == type; });
        ASSERT_NE(at, changed.rend()) << text;
        change(*at);
        recording::log_writer writer(recording());
        for (const auto& e : changed) writer.write(e);
        writer.finish();
        const auto result = replay(recording());
        EXPECT_EQ(result["status"], 1) << result;
        EXPECT_THAT(result["first"].dump(), HasSubstr(text));
    };
    expect(
        kind::end, [](event& e) { e.deltas += 1'000'000; }, "delta cycles");
    expect(
        kind::bar_read, [](event& e) { e.bytes[0] ^= 1; }, "BAR read of 4 bytes at BAR0");
    expect(
        kind::bar_read, [](event& e) { e.delay += 1; }, "recorded as taking");
    expect(
        kind::config_read, [](event& e) { e.bytes[0] ^= 1; }, "configuration read");
    expect(
        kind::has_written, [](event& e) { e.bytes[0] ^= 1; }, "DMA write");
    expect(
        kind::has_written, [](event& e) { e.address += 4096; }, "not in the recording");
    expect(
        kind::has_read, [](event& e) { e.type = kind::raised; }, "not in the recording");
}

TEST_F(RecordedSession, DamagedRecordingIsRefusedInOneSentence) {
    start("trn3-chip");
    ctl("copy host hbm0@16MiB 1MiB");
    EXPECT_EQ(platform->end(), 0);
    const auto refused = [&](const std::string& why) {
        const auto how = run(TRNVP " replay " + recording());
        EXPECT_EQ(how.status, 2) << how.output;
        EXPECT_THAT(how.output, HasSubstr(why));
    };
    const auto events = recording() + "/events.zst";
    auto text = text_of(events);
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    std::ofstream(events, std::ios::binary) << text;
    refused("is damaged");
    fs::remove(events);
    refused("cannot read");
    fs::create_directory(events);
    refused("not a regular file");
    fs::remove(events);
    ASSERT_EQ(run("mkfifo " + events).status, 0);
    refused("not a regular file");
    fs::remove(events);
    std::ofstream(events, std::ios::binary) << "no zstd";
    refused("is damaged");
    const auto manifest = text_of(recording() + "/manifest.json");
    const auto change = [&](const std::string& from, const std::string& to) {
        auto changed = manifest;
        changed.replace(changed.find(from), from.size(), to);
        std::ofstream(recording() + "/manifest.json") << changed;
    };
    change("\"seed\": ", "\"seed\": -");
    refused("'seed' must be a number");
    change("\"consoles\": [", "\"consoles\": [{}, ");
    refused("'consoles' must be a list of texts");
    std::ofstream(events, std::ios::binary).flush();
    change("\"set\": [", "\"set\": [\"firmware=/dev/zero\"");
    refused("the recording's board names '/dev/zero', which is not in the recording");
    change("\"misuse\": [", "\"misuse\": [\"fial\"");
    refused("manifest.json: there is no misuse policy 'fial'");
    std::ofstream(recording() + "/manifest.json") << manifest;
    fs::remove_all(recording() + "/firmware");
    std::ofstream(events, std::ios::binary).flush();
    refused("the recording has lost firmware/");
    fs::remove(recording() + "/manifest.json");
    refused("is not a recording");
}

TEST(RecordCommandLine, UsageErrorsExitWithStatus2) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const auto how = run(TRNVP " " + arguments);
        EXPECT_EQ(how.status, 2) << arguments << ": " << how.output;
        EXPECT_THAT(how.output, HasSubstr(text)) << arguments;
    };
    const scratch_folder folder;
    expect("replay /no/such/folder", "is not a recording");
    expect("run trn3-chip --gdb 0 --record " + (folder / "r"), "trnvp replay --gdb");
    std::ofstream(folder / "file") << "x";
    expect("run trn3-chip --record " + folder.text(), "is not empty");
    expect("run trn3-chip --record " + (folder / "file"), "file: Not a directory");
}

TEST(RecordCommandLine, FullDiskIsReportedAsAFailureNotAUsageError) {
    const scratch_folder folder;
    const auto full = [&](const std::string& blocks, const std::string& name) {
        const auto how = run("(trap '' XFSZ; ulimit -f " + blocks +
                             "; " TRNVP " run trn3-chip --until ready --uart none --record " +
                             (folder / name) + ")");
        EXPECT_EQ(how.status, 1) << how.output;
        EXPECT_THAT(how.output, HasSubstr("trnvp: cannot write "));
    };
    full("0", "nothing");     // not even the copy of the board fits
    full("1000", "no_tail");  // the log fits, its tail does not
}

}  // namespace
}  // namespace trn::test
