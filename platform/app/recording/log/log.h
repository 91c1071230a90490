// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "platform/app/recording/log/event.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace trn::recording {

/// The two files of a log: complete frames, and the tail with the events after them.
constexpr const char* events_file = "events.zst";
constexpr const char* tail_file = "events.tail";

/// Writes events into a folder. Events are collected in the tail, a mapped file that survives a
/// crash of this process, and appended to the log as one compressed frame.
class log_writer {
public:
    static constexpr std::size_t frame_size = 512 << 10;  ///< bytes before compression

    /// Creates both files. Throws recording_error.
    explicit log_writer(const std::filesystem::path& folder);
    ~log_writer();
    log_writer(const log_writer&) = delete;
    log_writer& operator=(const log_writer&) = delete;

    /// Throws recording_error when the disk is full.
    void write(const event& e) { write(e, e.bytes); }
    /// Writes an event with these bytes in place of its own.
    void write(const event& e, std::span<const std::uint8_t> bytes);
    /// Completes the log and removes the tail.
    void finish();

private:
    struct tail;
    std::size_t compress(std::span<const std::uint8_t> events);
    void write_frame(std::span<const std::uint8_t> events);
    void flush_tail();

    const std::filesystem::path folder_;
    std::ofstream out_;
    std::uint64_t written_ = 0;  // bytes in out_
    tail* tail_ = nullptr;       // mapped
    encoder encoder_;
    std::vector<std::uint8_t> encoded_, frame_;
    unsigned stored_ = 0;  // number of next frames that are not compressed
    std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> compressor_;
};

/// Reads events in order. Ignores an end that a crash has cut off; throws recording_error for
/// damaged data. Holds only one frame in memory.
class log_reader {
public:
    explicit log_reader(const std::filesystem::path& folder);
    /// Reads from a stream. `tail`: the bytes of the tail's file, if there is one.
    log_reader(std::unique_ptr<std::istream> log, std::vector<std::uint8_t> tail);

    /// The next event; nothing at the end.
    std::optional<event> next();

private:
    bool next_frame();
    bool take_tail();
    void fill();

    std::unique_ptr<std::istream> stream_;
    std::vector<std::uint8_t> tail_;
    std::vector<std::uint8_t> input_;  // compressed bytes; unread from `used_` on
    std::size_t used_ = 0;
    std::uint64_t consumed_ = 0;  // bytes of complete frames
    std::vector<std::uint8_t> frame_;
    std::span<const std::uint8_t> left_;  // unread part of frame_
    unsigned frames_ = 0;
    decoder decoder_;
    std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> decompressor_;
};

}  // namespace trn::recording
