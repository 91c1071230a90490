// SPDX-License-Identifier: Apache-2.0
// Images on file systems that fail or make no holes: this program's own pread() and fallocate()
// take the place of the C library's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "models/cards/nvme/media/image_file.h"
#include "models/cards/nvme/media/medium.h"
#include "platform/framework/process/temporary_folder.h"
#include "tests/unit/cards/nvme/controller/nvme_test.h"

namespace {
unsigned failing_reads = 0;
bool makes_holes = true;
}  // namespace

extern "C" ssize_t pread(int file, void* to, size_t size, off_t at) {
    if (failing_reads > 0) {
        --failing_reads;
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, file, to, size, at);
}

extern "C" int fallocate(int file, int how, off_t at, off_t size) {
    if (!makes_holes) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return static_cast<int>(syscall(SYS_fallocate, file, how, at, size));
}

namespace trn::test {
namespace {

using page = std::array<std::uint8_t, 4096>;

struct image {
    explicit image(std::uint64_t size) : path(folder / "disk.img") {
        std::ofstream{path};
        std::filesystem::resize_file(path, size);
    }
    ~image() {
        makes_holes = true;
        std::filesystem::remove_all(folder);
    }
    image(const image&) = delete;
    image& operator=(const image&) = delete;
    std::uint64_t stored() const {
        struct stat now {};
        return stat(path.c_str(), &now) == 0 ? static_cast<std::uint64_t>(now.st_blocks) * 512 : 0;
    }
    page content(std::uint64_t at) const {
        page bytes{};
        std::ifstream in(path, std::ios::binary);
        in.seekg(static_cast<std::streamoff>(at));
        in.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
        return bytes;
    }

    const std::filesystem::path folder = make_temporary_folder("nvme-media");
    std::string path;
};

nvme::medium::config medium_of(const image& disk) {
    nvme::medium::config made;
    made.capacity = made.write_cache = 1 << 20;
    made.image = disk.path;
    made.read_rate = made.write_rate = 1'000'000'000;
    return made;
}

page filled(std::uint8_t with) {
    page bytes;
    bytes.fill(with);
    return bytes;
}

TEST(NvmeMedia, FailedReadOfAPageDoesNotChangeIt) {
    const image disk(1 << 20);
    for (unsigned seed = 0; seed < 8; ++seed) {  // a loss of power restores half of the pages
        nvme::medium content("medium" + std::to_string(seed), medium_of(disk));
        ASSERT_TRUE(content.write(0, filled('A')));
        content.flush();
        failing_reads = 1;
        EXPECT_FALSE(content.write(0, std::array<std::uint8_t, 512>{'B'}));
        EXPECT_EQ(content.dirty_bytes(), 0u);
        content.lose_power();
        EXPECT_EQ(disk.content(0), filled('A'));
    }
}

TEST(NvmeMedia, SpoiledBytesStaySpoiledIfTheWriteFails) {
    const image disk(1 << 20);
    nvme::medium content("medium", medium_of(disk));
    content.spoil(0, 4096);
    failing_reads = 1;
    EXPECT_FALSE(content.write(0, filled(1)));
    EXPECT_FALSE(content.is_readable(0, 512));
    EXPECT_TRUE(content.write(0, filled(1)));
    EXPECT_TRUE(content.is_readable(0, 512));
}

TEST(NvmeMedia, ClearOfHolesWritesNothingWhereNoneCanBeMade) {
    constexpr std::uint64_t size = std::uint64_t{1} << 30;
    const image disk(size);
    makes_holes = false;
    nvme::image_file file(disk.path, size);
    ASSERT_TRUE(file.write(8192, filled(7)));
    std::uint64_t steps = 0;
    for (std::uint64_t at = 0; at < size; ++steps) {
        const auto done = file.clear(at, size - at);
        ASSERT_TRUE(done);
        ASSERT_NE(*done, 0u);
        at += *done;
    }
    EXPECT_LE(steps, 4u);
    EXPECT_LE(disk.stored(), 2u << 20);
    EXPECT_EQ(disk.content(8192), page{});
}

TEST(NvmeMedia, ClearsWriteABoundedNumberOfZerosAtATime) {
    constexpr std::uint64_t size = 8 << 20;
    const image disk(size);
    makes_holes = false;
    nvme::image_file file(disk.path, size);
    ASSERT_TRUE(file.write(0, std::vector<std::uint8_t>(size, 1)));
    EXPECT_EQ(file.clear(4096, size - 4096), nvme::image_file::max_zeros);
    EXPECT_EQ(file.clear(1 << 20, 4096), 0u);  // none before time advances
    EXPECT_EQ(disk.content(0), filled(1));
    EXPECT_EQ(disk.content(4096), page{});
    EXPECT_EQ(disk.content(4096 + nvme::image_file::max_zeros), filled(1));
}

TEST(NvmeMedia, UnchangedImageKeepsWritesInMemory) {
    constexpr std::uint64_t size = 8 << 20, extent = 64 << 10;
    const image disk(size);
    nvme::image_file(disk.path, size).write(4096, filled(7));
    auto cfg = medium_of(disk);
    cfg.capacity = size;
    cfg.read_only_image = true;
    nvme::medium one("one", cfg), other("other", cfg);
    const auto content = [](nvme::medium& of, std::uint64_t at) {
        page bytes;
        EXPECT_TRUE(of.read(at, bytes));
        return bytes;
    };
    EXPECT_TRUE(one.write(8192, filled(3)));
    EXPECT_EQ(one.clear(extent, 3 * extent), 3 * extent);
    EXPECT_TRUE(one.write(extent + 4096, filled(5)));
    EXPECT_EQ(content(one, 4096), filled(7));
    EXPECT_EQ(content(one, 8192), filled(3));
    EXPECT_EQ(content(one, extent), page{});
    EXPECT_EQ(content(one, extent + 4096), filled(5));
    EXPECT_EQ(one.clear(4096, 4096), 4096u);
    EXPECT_EQ(content(one, 4096), page{});
    EXPECT_EQ(content(other, 4096), filled(7));
    EXPECT_EQ(content(other, 8192), page{});
    EXPECT_EQ(disk.content(4096), filled(7));
    EXPECT_EQ(disk.content(8192), page{});
    EXPECT_THROW(nvme::image_file(disk.path, size), std::runtime_error);  // a run that writes it
    cfg.capacity = 2 * size;
    EXPECT_THROW(nvme::medium("third", cfg), std::runtime_error);
}

/// The guest's 4 KiB of ranges.
struct NvmeRanges : nvme_test {
    NvmeRanges() : nvme_test({.capacity = std::uint64_t{1} << 40}) {}
};

TEST_F(NvmeRanges, ManyLargeRangesCostLittle) {
    host.start();
    for (unsigned block = 0; block < 1024; block += 8) EXPECT_EQ(write(block, 8), 0u);
    for (std::uint64_t i = 0; i < 256; ++i) {
        const std::uint64_t block = i * (64 << 20) / 512;
        host.store<std::uint32_t>(data + i * 16 + 4, (64 << 20) / 512);
        host.store(data + i * 16 + 8, block);
    }
    const auto before = std::clock();
    for (unsigned i = 0; i < 5; ++i)
        EXPECT_EQ(
            host.execute(1, disk_driver::command(9).prps(data).set(10, 255).set(11, 4)).status(),
            0u);
    EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.5);
}

struct NvmeDiskWithoutHoles : nvme_test {
    static constexpr std::uint64_t size = 32 << 20;
    NvmeDiskWithoutHoles() : NvmeDiskWithoutHoles(new image(size)) {}
    ~NvmeDiskWithoutHoles() override { delete disk; }

    image* disk;

private:
    explicit NvmeDiskWithoutHoles(image* at)
        : nvme_test({.capacity = size, .image = at->path, .write_cache = 1 << 20}), disk(at) {
        makes_holes = false;
    }
};

TEST_F(NvmeDiskWithoutHoles, OtherCommandsGoOnDuringALongDeallocation) {
    using command = disk_driver::command;
    host.start();
    ASSERT_TRUE(host.disk.content().write(0, std::vector<std::uint8_t>(size, 1)));
    const std::uint32_t range[] = {0, size / 512 - 8, 8, 0};
    std::copy_n(reinterpret_cast<const std::uint8_t*>(range), sizeof range, host.bytes(data));
    const auto long_one = host.post(1, command(9).prps(data).set(11, 4));
    EXPECT_EQ(read(0, 8), 0u);  // completes first
    const auto done = host.wait(1, 100'000);
    EXPECT_EQ(done.id, long_one);
    EXPECT_EQ(done.status(), 0u);
    EXPECT_EQ(disk->content(0), filled(1));
    for (std::uint64_t at = 4096; at < size; at += 4096) ASSERT_EQ(disk->content(at), page{}) << at;
    const auto again = host.post(1, command(9).prps(data).set(11, 4));
    disk_driver::run(1000);
    EXPECT_EQ(host.execute(0, command(8, 0).set(10, std::uint32_t{again} << 16 | 1)).result, 0u);
    EXPECT_EQ(host.wait(1).status(), 0x07u);
}

}  // namespace
}  // namespace trn::test
