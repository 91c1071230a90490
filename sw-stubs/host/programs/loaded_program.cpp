// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/programs/loaded_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace trn {

loaded_program::loaded_program(const device& chip, std::span<const std::uint8_t> set,
                               const trn_program_options& options)
    : chip_(chip) {
    chip.check(trn_program_load(chip, set.data(), set.size(), &options, &handle_));
}

loaded_program::~loaded_program() {
    trn_program_unload(handle_);
}

void loaded_program::forget() {
    trn_program_free(std::exchange(handle_, nullptr));
}

std::vector<trn_tensor> loaded_program::tensors() const {
    std::vector<trn_tensor> all(trn_program_tensors(handle_));
    for (std::uint32_t n = 0; n < all.size(); ++n) trn_program_tensor(handle_, n, &all[n]);
    return all;
}

trn_tensor loaded_program::find(std::string_view name) const {
    std::vector<std::string> names;
    for (const trn_tensor& t : tensors()) {
        if (t.name == name) return t;
        names.emplace_back(t.name);
    }
    refuse_argument("the program has no tensor '{}'; it has {}", name,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::uint32_t loaded_program::number_of(const trn_tensor& tensor) const {
    std::uint32_t number = 0;
    trn_program_find_tensor(handle_, tensor.name, &number);
    return number;
}

void loaded_program::write(const trn_tensor& tensor, std::span<const std::uint8_t> bytes) const {
    chip_.check(trn_program_write(handle_, number_of(tensor), 0, bytes.data(), bytes.size()));
}

std::vector<std::uint8_t> loaded_program::read(const trn_tensor& tensor) const {
    std::vector<std::uint8_t> bytes(tensor.bytes);
    chip_.check(trn_program_read(handle_, number_of(tensor), 0, bytes.data(), bytes.size()));
    return bytes;
}

trn_program_result loaded_program::run(std::uint64_t limit_ns) const {
    trn_program_result result{};
    chip_.check(trn_program_start(handle_));
    chip_.check(trn_program_wait(handle_, limit_ns, &result));
    return result;
}

}  // namespace trn
