// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/programs/tensors.h"

#include <fmt/format.h>

#include <stdexcept>

namespace trn {

void program_tensors::write(const tensor_texts& inputs) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, text] : inputs) {
        program_.find(name);
        texts[name] = text;
    }
    for (const trn_tensor& t : program_.tensors()) {
        const auto given = texts.find(t.name);
        if (given == texts.end() && t.role == TRN_TENSOR_SCRATCH) continue;
        auto& bytes = written_[t.name];
        bytes = given == texts.end() ? std::vector<std::uint8_t>(t.bytes)
                                     : tensors::content(t, given->second, seed_, path_of_);
        program_.write(t, bytes);
    }
}

std::optional<std::string> program_tensors::difference(const std::string& name,
                                                       const std::string& text,
                                                       tensors::tolerance allowed) const {
    const trn_tensor t = program_.find(name);
    if (!tensors::is_reference(text))
        return tensors::difference(t, tensors::content(t, text, seed_, path_of_), program_.read(t),
                                   allowed);
    return difference(name, text, reference(text), allowed);
}

tensors::numbers program_tensors::reference(const std::string& text) const {
    return tensors::reference_of(text, [this](const std::string& operand) {
        const trn_tensor tensor = program_.find(operand);
        const auto bytes = written_.find(operand);
        if (bytes == written_.end() || !tensors::has_numbers(tensor.type))
            throw std::runtime_error(fmt::format("{} is no input with numbers", operand));
        return tensors::numbers{{tensor.dimensions, tensor.dimensions + tensor.rank},
                                tensors::numbers_of(tensor.type, bytes->second)};
    });
}

std::optional<std::string> program_tensors::difference(const std::string& name,
                                                       const std::string& text,
                                                       const tensors::numbers& expected,
                                                       tensors::tolerance allowed) const {
    const trn_tensor t = program_.find(name);
    if (!tensors::has_numbers(t.type) ||
        expected.values.size() != t.bytes / trn_tensor_type_bytes(t.type))
        throw std::runtime_error(fmt::format("{} has {} elements: not those of tensor {}", text,
                                             expected.values.size(), name));
    if (allowed.relative > 0 || allowed.absolute > 0)
        return tensors::difference(t, expected.values, program_.read(t), allowed);
    return tensors::difference(t, tensors::bytes_of(t.type, expected.values), program_.read(t),
                               allowed);
}

}  // namespace trn
