// SPDX-License-Identifier: Apache-2.0
// Arbitrary recordings are read to their end or cause recording_error.
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <memory>
#include <sstream>

#include "platform/app/recording/log/survey.h"
#include "tests/support/fuzz.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/recording/sample.h"

namespace {

using namespace trn;
using namespace trn::recording;

/// The events in the encoding of a log before compression.
std::string encoded() {
    encoder encode;
    std::vector<std::uint8_t> bytes;
    for (const auto& e : test::sample_events()) encode.encode(e, bytes);
    return {bytes.begin(), bytes.end()};
}

std::string compressed(const std::string& text) {
    std::string frame(ZSTD_compressBound(text.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
    return frame;
}

/// A tail file as left by a killed writer.
std::vector<std::uint8_t> tail() {
    const test::scratch_folder folder;
    log_writer log(folder);
    for (const auto& e : test::sample_events()) log.write(e);
    auto text = test::file_text(folder / tail_file);
    text.resize(1024);
    return {text.begin(), text.end()};
}

void read(const std::string& log, std::vector<std::uint8_t> tail, const manifest& about) {
    try {
        log_reader reader(std::make_unique<std::istringstream>(log), std::move(tail));
        const auto found = read_survey(reader, about);
        // The number of bytes decoded is bounded by the size of the log.
        if (found.bytes_read > log.size() * 20'000 + 1024) std::abort();
    } catch (const recording_error&) {
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto plain = encoded();
    const std::vector<std::string> words{std::string(9, '\xff'),
                                         std::string(4, 0),
                                         "\x10",
                                         "\x20",
                                         "\x28\xb5\x2f\xfd",
                                         "\"",
                                         "{}",
                                         "[",
                                         "null"};
    const test::mutator events({plain, plain + plain}, words), frames({compressed(plain)}, words),
        manifests({to_json(test::sample_manifest())}, words);
    const auto a_tail = tail();
    const auto about = test::sample_manifest();
    return test::fuzz(argc, argv, [&](test::fuzz_random& random) {
        switch (random.below(4)) {
        case 0:  // damaged events inside a valid frame
            return read(compressed(events.make(random)) + compressed(events.make(random)), {},
                        about);
        case 1:  // damaged frames
            return read(frames.make(random) + frames.make(random), {}, about);
        case 2: {  // damaged tails
            auto damaged = a_tail;
            for (auto n = random.below(8); n > 0; --n)
                damaged[random.below(damaged.size())] = static_cast<std::uint8_t>(random.next());
            damaged.resize(random.below(damaged.size()));
            return read("", damaged, about);
        }
        default:
            try {
                parse_manifest(manifests.make(random));
            } catch (const recording_error&) {
            }
        }
    });
}
