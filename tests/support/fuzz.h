// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/sanitized.h"

namespace trn::test {

/// Random source of one fuzz input: the same for the same seed and input number everywhere
/// (SplitMix64).
class fuzz_random {
public:
    explicit fuzz_random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return z ^ z >> 31;
    }
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : next() % bound; }

private:
    std::uint64_t state_;
};

/// Mutates valid inputs: changes bytes, inserts words of the language, cuts, repeats, splices.
class mutator {
public:
    mutator(std::vector<std::string> seeds, std::vector<std::string> words)
        : seeds_(std::move(seeds)), words_(std::move(words)) {}

    std::string make(fuzz_random& random) const {
        std::string text = seeds_[random.below(seeds_.size())];
        for (auto n = random.below(8); n > 0; --n) change(text, random);
        if (text.size() > largest) text.resize(largest);
        return text;
    }

private:
    static constexpr std::size_t largest = 64 << 10;

    void change(std::string& text, fuzz_random& random) const {
        const std::size_t position = random.below(text.size() + 1);
        const std::size_t length = std::min(random.below(40), text.size() - position);
        switch (random.below(7)) {
        case 0:
            if (position < text.size()) text[position] = static_cast<char>(random.next());
            break;
        case 1:
            text.insert(position, words_[random.below(words_.size())]);
            break;
        case 2:
            text.replace(position, length, words_[random.below(words_.size())]);
            break;
        case 3:
            text.erase(position, length);
            break;
        case 4:
            text.insert(random.below(text.size() + 1), text.substr(position, length));
            break;
        case 5:
            text.resize(position);
            break;
        default:
            text = text.substr(0, position) + tail(seeds_[random.below(seeds_.size())], random);
        }
    }
    static std::string tail(const std::string& text, fuzz_random& random) {
        return text.substr(random.below(text.size() + 1));
    }

    std::vector<std::string> seeds_, words_;
};

inline std::string file_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Writes a new file; overwriting one may wait for the disk on some file systems.
inline void write_text(const std::filesystem::path& file, std::string_view text) {
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary) << text;
}

/// The texts of all files below `roots` whose names end in `ending`, in order of their paths.
inline std::vector<std::string> file_texts(const std::vector<std::string>& roots,
                                           std::string_view ending) {
    std::vector<std::string> files, texts;
    for (const auto& root : roots)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
            if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());  // directory order is unspecified
    for (const auto& file : files) texts.push_back(file_text(file));
    return texts;
}

namespace detail {
inline std::uint64_t current_input = 0, current_seed = 0;
/// Reports the input; calls only async-signal-safe functions.
inline void report_crash(int signal_number) {
    char line[128];
    const int n =
        std::snprintf(line, sizeof line, "\ncrash: signal %d; again with --seed %llu --only %llu\n",
                      signal_number, static_cast<unsigned long long>(current_seed),
                      static_cast<unsigned long long>(current_input));
    if (write(STDERR_FILENO, line, static_cast<std::size_t>(n)) < 0) _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}
}  // namespace detail

/// Processor time of this process and its ended children in seconds; unaffected by the load of the
/// machine.
inline double processor_seconds() {
    double sum = 0;
    for (const int processes : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(processes, &used);
        for (const timeval& time : {used.ru_utime, used.ru_stime})
            sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
    return sum;
}

/// The main function of a fuzz target: `[--seconds N] [--seed S] [--only INPUT] [--inputs N]
/// [--enough N]`.
/// Calls `run` with the random source of each input; it must return within two seconds of processor
/// time. Returns the exit status: with `--inputs`, running out of time before N inputs is an error;
/// with `--enough` it is not.
inline int fuzz(int argc, char** argv, const std::function<void(fuzz_random&)>& run) {
    double seconds = 10;
    std::uint64_t seed = 1, input = 0, end = ~0ull, wanted = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--seconds") seconds = std::atof(argv[i + 1]);
        if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--inputs") end = wanted = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--enough") end = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--only") end = (input = std::strtoull(argv[i + 1], nullptr, 0)) + 1;
    }
    for (const int s : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) signal(s, detail::report_crash);
    const double begin = processor_seconds();
    constexpr double max_input_seconds = sanitized ? 10 : 2;
    double slowest = 0;
    detail::current_seed = seed;
    for (; input < end; ++input) {
        const double started = processor_seconds();
        if (started - begin >= seconds) break;
        detail::current_input = input;
        fuzz_random random(seed * 0x2545f4914f6cdd1dull + input);
        run(random);
        const double took = processor_seconds() - started;
        slowest = std::max(slowest, took);
        if (took > max_input_seconds)
            return std::fprintf(stderr, "input %llu took %.1f s\n",
                                static_cast<unsigned long long>(input), took),
                   1;
    }
    std::printf("%llu inputs, slowest %.1f ms\n", static_cast<unsigned long long>(input),
                slowest * 1e3);
    return input < wanted ? 1 : 0;
}

}  // namespace trn::test
