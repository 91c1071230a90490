// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/instructions/native_functions.h"

#include <algorithm>
#include <iterator>

namespace trn::isa {

namespace {

constexpr operand_rule none{};

constexpr native_function functions[] = {
    {1, "cumulative_sum", required(types::computed), required(types::computed), none,
     need::optional, need::unused, native_shape::elementwise, false,
     "sum = s0 (0 when absent); for each x: sum = sum + x in FP32, d = sum"},
    {2, "sort_ascending", required(types::computed), required(types::computed),
     optional(types::word), need::unused, need::unused, native_shape::elementwise, true,
     "the elements of A in ascending order, bit-exact, and in B their indices in A; NaN below "
     "every "
     "number, equal elements in A's order"},
    {3, "sort_descending", required(types::computed), required(types::computed),
     optional(types::word), need::unused, need::unused, native_shape::elementwise, true,
     "the same in descending order; equal elements in A's order"},
    {4, "argmax", required(types::index_32), required(types::computed), none, need::unused,
     need::unused, native_shape::one_result, false,
     "index of the first largest element; NaN elements are passed over, 0 when there are no "
     "others"},
    {5, "argmin", required(types::index_32), required(types::computed), none, need::unused,
     need::unused, native_shape::one_result, false,
     "index of the first smallest element, NaN as in argmax"},
    {6, "one_hot", required(types::computed), required(types::index_32), none, need::optional,
     need::optional, native_shape::one_index, false,
     "d = s0 (1 when absent) at the index that A holds, elsewhere s1 (0 when absent); an index "
     "outside DST gives s1 everywhere"},
    {7, "unique", required(types::computed), required(types::computed), required(types::word),
     need::optional, need::unused, native_shape::with_count, true,
     "the different values of A in ascending order, each by the bits of its first element, and "
     "their number in B; the rest of DST is s0 (0 when absent). +0 and -0 are one value, all NaNs "
     "are one"},
    {8, "histogram", required(types::index_32), required(types::integer), none, need::unused,
     need::unused, native_shape::free, false,
     "d_j = number of elements of A that equal j; others are not counted"},
    {9, "reverse", required(types::moved), required(types::moved), none, need::unused, need::unused,
     native_shape::elementwise, true, "the elements of A from the last to the first"},
};

}  // namespace

std::span<const native_function> native_functions() {
    return functions;
}

const native_function* find_native(std::uint32_t number) {
    const auto* found = std::ranges::find(functions, number, &native_function::number);
    return found == std::end(functions) ? nullptr : found;
}

bool writes_b(const instruction& i) {
    switch (i.opcode) {
    case opcode::match_replace8:
    case opcode::quantize_mx:
    case opcode::topk:
        return i.b.present();
    case opcode::pool_call: {
        const native_function* f = find_native(i.imm);
        return f != nullptr && f->writes_b() && i.b.present();
    }
    default:
        return false;
    }
}

}  // namespace trn::isa
