// SPDX-License-Identifier: Apache-2.0
// Recordings of a disk with an image: a replay leaves the files of the user alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/disk_client.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct RecordedDisk : testing::Test {
    scratch_folder folder;
    const std::string image = folder / "disk.img", recording = folder / "recording";

    void SetUp() override {
        std::ofstream(folder / "board.yaml")
            << "board: one-disk\ndescription: a server with one disk\nparameters:\n  image: "
            << image
            << "\nmodules:\n"
               "  host: {type: root_complex, ports: 1, link_generation: 4, processor: xeon, cores: "
               "1, memory: 1 GiB}\n"
               "  disk: {type: disks/instance_store, capacity: 1 GiB, image: '${image}', "
               "link_width: 8}\n"
               "bind:\n  - host.port[0] <-> disk.link\n";
    }
    /// Records a session that reads block 1, writes block 0 and reads it back.
    void record() {
        background platform({TRNVP, "run", folder / "board.yaml", "--listen", folder / "sockets",
                             "--record", recording},
                            folder / "log");
        ASSERT_TRUE(eventually(
            [&] { return !platform.running() || fs::exists(folder / "sockets/control.sock"); }));
        ASSERT_TRUE(platform.running()) << content_of(folder / "log");
        {
            disk_client disk(folder / "sockets/disk.sock");
            EXPECT_EQ(disk.read_block(1), "FROM BEFORE");
            disk.write_block(0, "RECORDED");
            disk.flush();
            EXPECT_EQ(disk.read_block(0), "RECORDED");
        }
        EXPECT_EQ(platform.end(), 0) << content_of(folder / "log");
    }
    /// An image with text in block 1.
    void make_image() const {
        std::ofstream(image, std::ios::binary).seekp(512) << "FROM BEFORE";
        fs::resize_file(image, std::uintmax_t{1} << 30);
    }
    json replay() const {
        const auto how = run(TRNVP " replay --json " + recording);
        const auto line = how.output.find("{\"");
        json result =
            json::parse(line == std::string::npos ? "" : how.output.substr(line), nullptr, false);
        EXPECT_TRUE(result.is_object()) << how.output;
        return result;
    }
};

TEST_F(RecordedDisk, ReplayUsesACopyOfTheImageAsItWas) {
    make_image();
    record();
    std::fstream(image, std::ios::in | std::ios::out | std::ios::binary) << "MY OWN LATER DATA";
    for (int times = 0; times < 2; ++times) {
        const auto result = replay();
        EXPECT_EQ(result["same_platform"], true) << result;
        EXPECT_EQ(result["differences"], 0) << result;
        std::string begin(17, '\0');
        std::ifstream(image, std::ios::binary).read(begin.data(), std::ssize(begin));
        EXPECT_EQ(begin, "MY OWN LATER DATA");
    }
    fs::remove(image);
    EXPECT_EQ(replay()["differences"], 0);
    EXPECT_FALSE(fs::exists(image));
}

TEST_F(RecordedDisk, CopyOfASparseImageIsSparse) {
    make_image();
    record();
    const auto manifest = json::parse(content_of(recording + "/manifest.json"));
    const auto copy = recording + "/" + manifest["disks"][image].get<std::string>();
    EXPECT_EQ(fs::file_size(copy), std::uintmax_t{1} << 30);
    EXPECT_THAT(run("du -k " + copy).output, testing::Not(testing::MatchesRegex("[0-9]{5,}.*")));
    EXPECT_EQ(run("cmp -n 1024 " + copy + " " + image).status, 1);  // block 0 was written later
    EXPECT_EQ(run("cmp -i 512 -n 4096 " + copy + " " + image).status, 0);
}

TEST_F(RecordedDisk, EditedRecordingMakesNoFile) {
    make_image();
    record();
    const std::string other = folder / "new_file";
    const auto edit = [&](const std::string& file) {
        auto text = content_of(file);
        for (std::size_t at; (at = text.find(image)) != std::string::npos;)
            text.replace(at, image.size(), other);
        std::ofstream(file, std::ios::binary) << text;
    };
    edit(recording + "/board/board.yaml");
    const auto how = run(TRNVP " replay " + recording);
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("new_file', which is not in the recording"));
    EXPECT_FALSE(fs::exists(other));
    edit(recording + "/manifest.json");
    EXPECT_EQ(replay()["differences"], 0);
    EXPECT_FALSE(fs::exists(other));
}

}  // namespace
}  // namespace trn::test
