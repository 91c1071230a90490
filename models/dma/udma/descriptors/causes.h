// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn::cause {

// Bits of the secondary interrupt groups A (m2s) and B (s2m), as armed by the driver. The three
// bits for compute packets are invented: the contract leaves these stream errors unspecified.
constexpr unsigned m2s_operation = 0;
constexpr unsigned m2s_operand = 1;
constexpr unsigned m2s_index = 2;
constexpr unsigned m2s_stream_timeout = 3;
constexpr unsigned m2s_data_parity = 7;
constexpr unsigned m2s_data_response = 8;
constexpr unsigned m2s_prefetch_response = 11;
constexpr unsigned m2s_packet_too_long = 13;
constexpr unsigned m2s_too_many_descriptors = 14;
constexpr unsigned m2s_first_bit = 15;
constexpr unsigned m2s_last_bit = 16;
constexpr unsigned m2s_ring_id = 17;
constexpr unsigned s2m_data_response = 1;
constexpr unsigned s2m_prefetch_response = 9;
constexpr unsigned s2m_ring_id = 11;
constexpr unsigned s2m_length_mismatch = 24;

}  // namespace trn::cause
