// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "platform/framework/config/mix_in.h"
#include "platform/framework/config/units.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace {

[[noreturn]] void refuse(int error) {
    throw file_error(std::strerror(error));
}

/// Files read so far or noted as inputs, by device and inode, since a file may have several names.
std::set<std::pair<dev_t, ino_t>>& files_read() {
    static std::set<std::pair<dev_t, ino_t>> all;
    return all;
}

/// The innermost record; null: none.
input_record*& open_record() {
    static input_record* innermost = nullptr;
    return innermost;
}

/// Digest of a regular file's size and its first GiB of data. Blocks of zeros have no effect, and
/// holes are skipped, so that a large sparse disk image takes little time.
std::uint64_t content_digest(const std::filesystem::path& file) {
    constexpr std::uint64_t max_blocks = 1 << 14;
    std::vector<char> block(1 << 16);
    const auto size = static_cast<off_t>(block.size());
    const unique_fd source(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (!source || fstat(source.get(), &about) != 0) return 0;
    auto hash = mix_in(first_mix, fmt::format("{}", about.st_size));
    off_t offset = 0;
    for (std::uint64_t blocks = 0; blocks < max_blocks && offset < about.st_size;
         ++blocks, offset += size) {
        if (const auto data = lseek(source.get(), offset, SEEK_DATA); data >= 0)
            offset = data - data % size;
        else if (errno == ENXIO)
            break;  // no more data
        const auto count = pread(source.get(), block.data(), block.size(), offset);
        if (count <= 0) break;
        const std::string_view bytes(block.data(), static_cast<std::size_t>(count));
        if (bytes.find_first_not_of('\0') != bytes.npos)
            hash = mix_in(mix_in(hash, fmt::format("{}", offset)), bytes);
    }
    return hash;
}

/// content_digest(), without reading an unchanged file again.
std::uint64_t known_digest(const std::filesystem::path& file) {
    using version = std::tuple<dev_t, ino_t, off_t, time_t, long>;
    static std::map<version, std::uint64_t> known;
    struct stat about {};
    if (stat(file.c_str(), &about) != 0) return 0;
    const version now{about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec,
                      about.st_mtim.tv_nsec};
    const auto found = known.find(now);
    return found != known.end() ? found->second
                                : known.emplace(now, content_digest(file)).first->second;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& file, std::uint64_t limit) {
    // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
    const unique_fd source(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source) refuse(errno);
    struct stat about {};
    if (fstat(source.get(), &about) != 0) refuse(errno);
    if (S_ISDIR(about.st_mode)) refuse(EISDIR);
    if (!S_ISREG(about.st_mode)) throw file_error("not a regular file, but a device or a pipe");
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size > limit)
        throw file_error(fmt::format("{} bytes, more than {}", size, to_string(bytes{limit})));
    std::vector<std::uint8_t> text(size);
    std::size_t done = 0;
    while (done < text.size()) {
        const auto count = read(source.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse(errno);
        if (count == 0) break;  // the file was truncated meanwhile
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    files_read().emplace(about.st_dev, about.st_ino);
    return text;
}

void note_input(const std::filesystem::path& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    files_read().emplace(about.st_dev, about.st_ino);
    if (auto* const record = open_record()) record->add(file);
}

input_record::input_record() : outer_(std::exchange(open_record(), this)) {}

input_record::~input_record() {
    open_record() = outer_;
}

void input_record::add(const std::filesystem::path& file) {
    if (outer_ != nullptr) outer_->add(file);
    if (known_.insert(file).second) contents_.insert(known_digest(file));
}

std::uint64_t input_record::mixed_into(std::uint64_t hash) const {
    for (const auto content : contents_)
        hash = mix_in(hash, {reinterpret_cast<const char*>(&content), sizeof content});
    return hash;
}

void check_not_read(const std::filesystem::path& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && files_read().contains({about.st_dev, about.st_ino}))
        throw file_error(fmt::format("cannot write {}: this command reads it", file.string()));
}

bool is_same_file(int first, int second) {
    struct stat about_first {
    }, about_second{};
    return fstat(first, &about_first) == 0 && fstat(second, &about_second) == 0 &&
           about_first.st_dev == about_second.st_dev && about_first.st_ino == about_second.st_ino;
}

}  // namespace trn
