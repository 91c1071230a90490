// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>

#include "sw-stubs/host/text/size_text.h"
#include "sw-stubs/host/values/pattern.h"
#include "sw-stubs/trnctl/commands.h"

namespace trn {

namespace {

struct duration {
    double simulated_s = 0, wall_s = 0;
};

template <typename Work>
duration timed(device& chip, Work&& work) {
    chip.check(trn_sleep(chip, 1000));  // completes earlier accesses
    const auto wall = std::chrono::steady_clock::now();
    const auto simulated = trn_simulated_now(chip);
    work();
    return {static_cast<double>(trn_simulated_now(chip) - simulated) / 1e9,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count()};
}

std::string time_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

std::string rate_text(std::uint64_t size, double seconds) {
    if (seconds <= 0) return "-";
    const double rate = static_cast<double>(size) / seconds;
    if (rate < 1e9) return fmt::format("{:.1f} MB/s", rate / 1e6);
    return fmt::format("{:.2f} GB/s", rate / 1e9);
}

/// One copy; allocates host memory if an end is the host.
class transfer {
public:
    transfer(device& chip, const copy_options& options)
        : chip_(chip),
          options_(options),
          core_(options.core.value_or(is_host(options.destination)
                                          ? options.source.core(chip)
                                          : options.destination.core(chip))) {
        if (is_host(options.source)) {
            source_buffer_ =
                std::make_unique<host_buffer>(chip, options.size, options.source.offset);
            if (options.data.empty())
                pattern(options.seed).fill(source_buffer_->bytes());
            else
                std::ranges::copy(options.data, source_buffer_->bytes().begin());
        }
        if (is_host(options.destination))
            destination_buffer_ =
                std::make_unique<host_buffer>(chip, options.size, options.destination.offset);
        source_ =
            source_buffer_ ? source_buffer_->address() : options.source.address(chip, options.size);
        destination_ = destination_buffer_ ? destination_buffer_->address()
                                           : options.destination.address(chip, options.size);
    }

    duration run() {
        return timed(chip_, [&] {
            chip_.check(trn_copy(chip_, core_, destination_, source_, options_.size));
        });
    }

    /// Writes the bytes that have arrived at the host.
    void write_output() const {
        const auto bytes = destination_buffer_->bytes();
        std::ofstream out(options_.output, std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
        out.close();
        if (!out) throw user_error(fmt::format("{} cannot be written", options_.output));
    }

    /// Compares both ends. HBM is read through BAR4, independently of the engine under test.
    void verify() const {
        const auto wrong = compare(bytes_of(options_.source, source_buffer_),
                                   bytes_of(options_.destination, destination_buffer_));
        if (wrong)
            throw device_error(TRN_PROTOCOL_ERROR,
                               fmt::format("copy of {} to {} is wrong: {}", options_.source.text(),
                                           options_.destination.text(), to_string(*wrong)));
    }

private:
    static bool is_host(const location& place) { return place.space == location::kind::host; }

    std::vector<std::uint8_t> bytes_of(const location& place,
                                       const std::unique_ptr<host_buffer>& memory) const {
        if (memory) return {memory->bytes().begin(), memory->bytes().end()};
        std::vector<std::uint8_t> bytes(options_.size);
        if (place.space == location::kind::hbm)
            chip_.check(
                trn_window_read(chip_, place.number, place.offset, bytes.data(), bytes.size()));
        else
            chip_.check(trn_read(chip_, core_, bytes.data(), place.address(chip_, bytes.size()),
                                 bytes.size()));
        return bytes;
    }

    device& chip_;
    const copy_options options_;
    const std::uint32_t core_;
    std::unique_ptr<host_buffer> source_buffer_, destination_buffer_;
    std::uint64_t source_ = 0, destination_ = 0;
};

void report(const copy_options& options, const duration& took, const output& out) {
    const std::string verified = options.verify ? ", verified" : "";
    out.result(
        {{"from", options.source.text()},
         {"to", options.destination.text()},
         {"bytes", options.size},
         {"simulated_s", took.simulated_s},
         {"wall_s", took.wall_s},
         {"verified", options.verify}},
        fmt::format("{} {} -> {}: {} simulated ({}), {} wall ({}){}", size_text(options.size),
                    options.source.text(), options.destination.text(), time_text(took.simulated_s),
                    rate_text(options.size, took.simulated_s), time_text(took.wall_s),
                    rate_text(options.size, took.wall_s), verified));
}

void copy_and_report(device& chip, const copy_options& options, const output& out) {
    transfer trial(chip, options);
    const auto took = trial.run();
    if (options.verify) trial.verify();
    if (!options.output.empty()) trial.write_output();
    report(options, took, out);
}

location hbm(std::uint32_t stack, std::uint64_t offset) {
    return {location::kind::hbm, stack, offset};
}

/// The stack that is the farthest from stack 0: on another die, if the chip has several.
std::uint32_t last_stack(const device& chip) {
    return chip.info().stacks - 1;
}

}  // namespace

void copy(session& platform, const copy_options& options, const output& out) {
    if (options.size == 0) throw user_error("a copy of 0 bytes: give a size such as 64 MiB");
    if (!options.data.empty() && options.source.space != location::kind::host)
        throw user_error("--in is for a copy from the host");
    if (!options.data.empty() && options.data.size() != options.size)
        throw user_error(fmt::format("the file of --in has {} bytes, and the copy {}",
                                     options.data.size(), options.size));
    if (!options.output.empty() && options.destination.space != location::kind::host)
        throw user_error("--out is for a copy to the host");
    platform.run([&](device& chip) {
        bring_up(chip);
        copy_and_report(chip, options, out);
    });
}

void fill(session& platform, const location& place, std::uint64_t size, std::uint8_t value,
          const output& out) {
    if (place.space == location::kind::host) throw user_error("memset fills memory of the chip");
    platform.run([&](device& chip) {
        bring_up(chip);
        const auto address = place.address(chip, size);
        const auto took = timed(
            chip, [&] { chip.check(trn_memset(chip, place.core(chip), address, value, size)); });
        out.result({{"at", place.text()},
                    {"bytes", size},
                    {"value", value},
                    {"simulated_s", took.simulated_s},
                    {"wall_s", took.wall_s}},
                   fmt::format("{} at {} = {:#04x}: {} simulated ({}), {} wall", size_text(size),
                               place.text(), value, time_text(took.simulated_s),
                               rate_text(size, took.simulated_s), time_text(took.wall_s)));
    });
}

void bench(session& platform, std::uint64_t largest, const output& out) {
    struct direction {
        std::string_view name;
        location source, destination;
    };
    const auto base = TRN_HBM_RESERVED_BYTES;
    platform.run([&](device& chip) {
        bring_up(chip);
        const auto far = last_stack(chip);
        const std::array directions{
            direction{"host to HBM", {}, hbm(0, base)}, direction{"HBM to host", hbm(0, base), {}},
            direction{"HBM to HBM, same stack", hbm(0, base), hbm(0, 4 * base * 16)},
            direction{chip.info().dies > 1 ? "HBM to HBM, other die" : "HBM to HBM, other stack",
                      hbm(0, base), hbm(far, base)}};
        if (!out.json)
            print("{:<24} {:>10} {:>14} {:>14} {:>12} {:>14}\n", "direction", "size", "simulated",
                  "rate", "wall", "rate");
        for (const auto& d : directions)
            for (std::uint64_t size = 64; size <= largest; size *= 16) {
                transfer trial(chip,
                               {d.source, d.destination, size, std::nullopt, 1, false, {}, {}});
                trial.run();  // warm-up: first touch of host pages
                const auto took = trial.run();
                out.result({{"direction", d.name},
                            {"bytes", size},
                            {"simulated_s", took.simulated_s},
                            {"wall_s", took.wall_s}},
                           fmt::format("{:<24} {:>10} {:>14} {:>14} {:>12} {:>14}", d.name,
                                       size_text(size), time_text(took.simulated_s),
                                       rate_text(size, took.simulated_s), time_text(took.wall_s),
                                       rate_text(size, took.wall_s)));
            }
    });
}

void demo(session& platform, std::uint64_t size, const output& out) {
    platform.wait_ready(std::chrono::seconds(60));
    platform.run(bring_up);  // gives the UART time to print the boot log
    for (const auto& console : platform.call("list", {{"what", "consoles"}})) {
        const auto printed = platform.call("console", {{"module", console.at("name")}});
        if (!out.json) print_console(printed.value("text", ""));
    }
    const auto base = TRN_HBM_RESERVED_BYTES;
    platform.run([&](device& chip) {
        const auto far = hbm(last_stack(chip), base);
        copy_and_report(chip, {{}, hbm(0, base), size, std::nullopt, 1, true, {}, {}}, out);
        copy_and_report(chip, {hbm(0, base), far, size, std::nullopt, 1, true, {}, {}}, out);
        copy_and_report(chip, {far, {}, size, std::nullopt, 1, true, {}, {}}, out);
        host_buffer last(chip, size);
        chip.check(trn_copy(chip, far.core(chip), last.address(), far.address(chip, size), size));
        if (const auto wrong = pattern(1).check(last.bytes()))
            throw device_error(TRN_PROTOCOL_ERROR, "data mismatch: " + to_string(*wrong));
        out.result(
            {{"round_trip", "verified"}},
            fmt::format("host -> HBM -> HBM -> host: {} came back as sent", size_text(size)));
    });
}

}  // namespace trn
