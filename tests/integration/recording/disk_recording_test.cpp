// SPDX-License-Identifier: Apache-2.0
// Recordings of a disk with an image: a replay leaves the files of the user alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A driver of one NVMe disk with one I/O queue, which waits for each command.
class disk_client {
public:
    explicit disk_client(const std::string& socket) {
        char why[256] = "";
        EXPECT_EQ(trn_vfio_user_open(socket.c_str(), nullptr, &client_, why, sizeof why), 0) << why;
        const std::uint16_t command = 6;  // memory space, bus mastering
        trn_vfio_user_write(client_, TRN_VFIO_USER_CONFIG, 4, &command, sizeof command);
        EXPECT_EQ(trn_vfio_user_dma_alloc(client_, 1 << 20, base, &ram_), 0);
        set(0x14, 0);
        set(0x24, 15 << 16 | 15);
        set(0x28, base + 0x1000);
        set(0x2c, 0);
        set(0x30, base + 0x2000);
        set(0x34, 0);
        set(0x14, 4 << 20 | 6 << 16 | 1);
        trn_vfio_user_wait(client_, 5'000'000, nullptr);
        EXPECT_EQ(execute(0, {.opcode = 5, .prp = base + 0x4000, .words = {15 << 16 | 1, 1}}), 0);
        EXPECT_EQ(
            execute(0, {.opcode = 1, .prp = base + 0x3000, .words = {15 << 16 | 1, 1 << 16 | 1}}),
            0);
    }
    ~disk_client() { trn_vfio_user_close(client_); }
    disk_client(const disk_client&) = delete;
    disk_client& operator=(const disk_client&) = delete;

    void write_block(std::uint32_t block, std::string_view text) {
        std::memset(at(0x8000), 0, 512);
        std::memcpy(at(0x8000), text.data(), text.size());
        EXPECT_EQ(
            execute(1, {.opcode = 1, .name_space = 1, .prp = base + 0x8000, .words = {block, 0}}),
            0);
    }
    std::string read_block(std::uint32_t block) {
        EXPECT_EQ(
            execute(1, {.opcode = 2, .name_space = 1, .prp = base + 0x8000, .words = {block, 0}}),
            0);
        return reinterpret_cast<const char*>(at(0x8000));
    }
    void flush() { EXPECT_EQ(execute(1, {.opcode = 0, .name_space = 1}), 0); }

private:
    static constexpr std::uint32_t base = 0x1000'0000;
    struct request {
        std::uint32_t opcode = 0, name_space = 0;
        std::uint64_t prp = 0;
        std::array<std::uint32_t, 2> words = {};
    };

    std::uint8_t* at(std::size_t offset) const {
        return static_cast<std::uint8_t*>(ram_.host) + offset;
    }
    void set(std::uint64_t offset, std::uint32_t value) {
        EXPECT_EQ(trn_vfio_user_write32(client_, 0, offset, value), 0);
    }
    int execute(unsigned queue, const request& r) {
        const std::array<std::uint32_t, 16> entry{r.opcode | ++id_ << 16,
                                                  r.name_space,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  static_cast<std::uint32_t>(r.prp),
                                                  0,
                                                  0,
                                                  0,
                                                  r.words[0],
                                                  r.words[1]};
        std::memcpy(at((queue == 0 ? 0x1000 : 0x3000) + tail_[queue] * 64), entry.data(), 64);
        tail_[queue] = (tail_[queue] + 1) % 16;
        set(0x1000 + 8 * queue, tail_[queue]);
        const auto* flags = at((queue == 0 ? 0x2000 : 0x4000) + head_[queue] % 16 * 16 + 14);
        for (unsigned tries = 0; tries < 1000; ++tries) {
            const unsigned now = flags[0] | flags[1] << 8;
            if ((now & 1) == (head_[queue] / 16 % 2 == 0 ? 1u : 0u)) {
                ++head_[queue];
                set(0x1004 + 8 * queue, head_[queue] % 16);
                return static_cast<int>(now >> 1);
            }
            trn_vfio_user_wait(client_, 20'000, nullptr);
        }
        return -1;
    }

    trn_vfio_user* client_ = nullptr;
    trn_dma_memory ram_{};
    std::uint32_t id_ = 0;
    std::array<unsigned, 2> tail_{}, head_{};
};

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
        EXPECT_THAT(content_of(image).substr(0, 20), StartsWith("MY OWN LATER DATA"));
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
