// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "platform/app/recording/log/stored_frame.h"

namespace trn::recording {

namespace fs = std::filesystem;

namespace {

constexpr int compression_level = 1;                         // keeps up with the rest of recording
constexpr std::uint64_t tail_magic = 0x316c'6961'7472'6e74;  // "tnrtail1"
// A frame holds at least one event, so it may be longer than frame_size.
constexpr std::size_t largest_frame = event::largest + 128;

[[noreturn]] void damaged(unsigned frame, std::uint64_t offset, std::string_view why) {
    throw recording_error(
        fmt::format("{}: frame {}, at byte {}, is damaged: {}", events_file, frame, offset, why));
}

/// Opens a file of the recording; folders and pipes are refused.
std::unique_ptr<std::ifstream> open_to_read(const fs::path& file) {
    std::error_code unreadable;
    if (!fs::is_regular_file(file, unreadable))
        throw recording_error(fmt::format("cannot read {}: not a regular file", file.string()));
    auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
    if (!*stream)
        throw recording_error(
            fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
    return stream;
}

/// Nothing when the file does not exist.
std::vector<std::uint8_t> bytes_of(const fs::path& file, std::size_t max_size) {
    std::error_code unreadable;
    if (!fs::is_regular_file(file, unreadable)) return {};
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::uint8_t> bytes(stream ? max_size : 0);
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return bytes;
}

}  // namespace

/// Content of the tail's file: `length` bytes of events that follow the first `continues` bytes of
/// the log. The order of the stores ensures that a crash leaves a tail that is valid, or one that
/// is ignored.
struct log_writer::tail {
    std::uint64_t magic;
    std::atomic<std::uint64_t> continues;
    std::atomic<std::uint64_t> length;
    std::uint8_t events[frame_size];
};

log_writer::log_writer(const fs::path& folder)
    : folder_(folder),
      out_(folder / events_file, std::ios::binary | std::ios::trunc),
      compressor_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    if (!out_) cannot_write((folder / events_file).string(), errno);
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_checksumFlag, 1);
    const fs::path path = folder / tail_file;
    const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    int error = file < 0 ? errno : posix_fallocate(file, 0, sizeof(tail));
    void* memory = MAP_FAILED;
    // Allocates the blocks now: a full disk must not cause a bus error later.
    if (error == 0) {
        memory = mmap(nullptr, sizeof(tail), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) error = errno;
    }
    if (file >= 0) close(file);
    if (error != 0) cannot_write(path.string(), error);
    tail_ = static_cast<tail*>(memory);
    tail_->magic = tail_magic;
}

log_writer::~log_writer() {
    munmap(tail_, sizeof(tail));
}

void log_writer::write(const event& e, std::span<const std::uint8_t> bytes) {
    assert(bytes.size() <= event::largest);
    encoded_.clear();
    encoder_.encode_head(e, bytes.size(), encoded_);
    const auto size = encoded_.size() + bytes.size();
    if (tail_->length + size > frame_size) flush_tail();
    if (size > frame_size) {
        encoded_.insert(encoded_.end(), bytes.begin(), bytes.end());
        write_frame(encoded_);
        tail_->continues = written_;
        return;
    }
    auto* const destination = tail_->events + tail_->length;
    std::ranges::copy(encoded_, destination);
    std::ranges::copy(bytes, destination + encoded_.size());
    tail_->length.store(tail_->length + size, std::memory_order_release);
}

void log_writer::flush_tail() {
    if (tail_->length == 0) return;
    write_frame({tail_->events, tail_->length});
    tail_->length.store(0, std::memory_order_release);
    tail_->continues.store(written_, std::memory_order_release);
}

/// Compresses to the beginning of frame_; returns the number of its bytes.
std::size_t log_writer::compress(std::span<const std::uint8_t> events) {
    frame_.resize(ZSTD_compressBound(events.size()));
    const std::size_t size = ZSTD_compress2(compressor_.get(), frame_.data(), frame_.size(),
                                            events.data(), events.size());
    assert(!ZSTD_isError(size));
    return size;
}

/// After a frame that does not shrink, some are stored as they are: to compress random bytes costs
/// as much as to write them.
void log_writer::write_frame(std::span<const std::uint8_t> events) {
    constexpr unsigned stored_at_once = 15;
    std::size_t size = 0;
    if (stored_ > 0) {
        --stored_;
        size = write_stored_frame(out_, events);
    } else {
        size = compress(events);
        if (size > events.size() / 32 * 31) stored_ = stored_at_once;
        out_.write(reinterpret_cast<const char*>(frame_.data()),
                   static_cast<std::streamsize>(size));
    }
    if (!out_.flush())
        throw write_error(fmt::format("cannot write {}: {}", (folder_ / events_file).string(),
                                      std::strerror(errno)));
    written_ += size;
}

void log_writer::finish() {
    flush_tail();
    std::error_code ignored;
    fs::remove(folder_ / tail_file, ignored);
}

// --- Reading

log_reader::log_reader(const fs::path& folder)
    : log_reader(open_to_read(folder / events_file),
                 bytes_of(folder / tail_file, 2 * log_writer::frame_size)) {}

log_reader::log_reader(std::unique_ptr<std::istream> log, std::vector<std::uint8_t> tail)
    : stream_(std::move(log)),
      tail_(std::move(tail)),
      decompressor_(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

std::optional<event> log_reader::next() {
    while (left_.empty())
        if (!next_frame() && !take_tail()) return std::nullopt;
    auto e = decoder_.decode(left_);
    if (!e) damaged(frames_, consumed_, "its last event is cut off");
    return e;
}

/// Reads until `input_` has the whole next frame, or the log ends.
void log_reader::fill() {
    const std::size_t wanted = ZSTD_compressBound(largest_frame);
    if (input_.size() - used_ >= wanted || !*stream_) return;
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const std::size_t had = input_.size();
    input_.resize(wanted + log_writer::frame_size);
    stream_->read(reinterpret_cast<char*>(input_.data() + had),
                  static_cast<std::streamsize>(input_.size() - had));
    input_.resize(had + static_cast<std::size_t>(stream_->gcount()));
    if (stream_->bad()) damaged(frames_, consumed_, "it cannot be read");
}

bool log_reader::next_frame() {
    fill();
    const auto* frame = input_.data() + used_;
    const std::size_t there = input_.size() - used_;
    if (there == 0) return false;
    const auto size = ZSTD_getFrameContentSize(frame, there);
    constexpr std::array<std::uint8_t, 4> magic{0x28, 0xb5, 0x2f, 0xfd};
    // RFC 8878: no frame header is longer than 18 bytes.
    const bool cut =
        there < 18 && std::memcmp(frame, magic.data(), std::min<std::size_t>(there, 4)) == 0;
    if (size == ZSTD_CONTENTSIZE_ERROR && cut) return false;
    if (size == ZSTD_CONTENTSIZE_ERROR) damaged(frames_, consumed_, "not a zstd frame");
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size > largest_frame)
        damaged(frames_, consumed_, "no recording has frames of this size");
    const std::size_t compressed = ZSTD_findFrameCompressedSize(frame, there);
    if (ZSTD_isError(compressed)) {
        if (ZSTD_getErrorCode(compressed) == ZSTD_error_srcSize_wrong)
            return false;  // a crash has cut off the frame
        damaged(frames_, consumed_, ZSTD_getErrorName(compressed));
    }
    frame_.resize(size);
    const std::size_t done =
        ZSTD_decompressDCtx(decompressor_.get(), frame_.data(), frame_.size(), frame, compressed);
    if (ZSTD_isError(done)) damaged(frames_, consumed_, ZSTD_getErrorName(done));
    frame_.resize(done);
    left_ = frame_;
    used_ += compressed;
    consumed_ += compressed;
    ++frames_;
    return true;
}

bool log_reader::take_tail() {
    struct head {
        std::uint64_t magic, continues, length;
    } tail{};
    if (tail_.size() < sizeof tail) return false;
    std::memcpy(&tail, tail_.data(), sizeof tail);
    if (tail.magic != tail_magic || tail.continues != consumed_ ||
        tail.length > tail_.size() - sizeof tail)
        return false;
    const auto events = std::span(tail_).subspan(sizeof tail, tail.length);
    frame_.assign(events.begin(), events.end());
    tail_.clear();
    left_ = frame_;
    return true;
}

}  // namespace trn::recording
