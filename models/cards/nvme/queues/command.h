// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/cards/nvme/queues/nvme_entry_regs.h"
#include "platform/framework/registers/table_entry.h"

namespace trn::nvme {

using entry = table_entry<nvme_entry_regs::rows>;
/// Status code type and status code of a completion (NVM Express 4.6.1).
enum class status : std::uint16_t {
    success = nvme_entry_regs::completion::status_success,
    invalid_opcode = nvme_entry_regs::completion::status_invalid_opcode,
    invalid_field = nvme_entry_regs::completion::status_invalid_field,
    data_transfer_error = nvme_entry_regs::completion::status_data_transfer_error,
    internal_error = nvme_entry_regs::completion::status_internal_error,
    abort_requested = nvme_entry_regs::completion::status_abort_requested,
    aborted_sq_deletion = nvme_entry_regs::completion::status_aborted_sq_deletion,
    invalid_namespace = nvme_entry_regs::completion::status_invalid_namespace,
    command_sequence_error = nvme_entry_regs::completion::status_command_sequence_error,
    invalid_prp_offset = nvme_entry_regs::completion::status_invalid_prp_offset,
    block_out_of_range = nvme_entry_regs::completion::status_block_out_of_range,
    invalid_completion_queue = nvme_entry_regs::completion::status_invalid_completion_queue,
    invalid_queue_id = nvme_entry_regs::completion::status_invalid_queue_id,
    invalid_queue_size = nvme_entry_regs::completion::status_invalid_queue_size,
    event_limit = nvme_entry_regs::completion::status_event_limit,
    invalid_vector = nvme_entry_regs::completion::status_invalid_vector,
    invalid_log_page = nvme_entry_regs::completion::status_invalid_log_page,
    invalid_queue_deletion = nvme_entry_regs::completion::status_invalid_queue_deletion,
    feature_not_saveable = nvme_entry_regs::completion::status_feature_not_saveable,
    feature_not_changeable = nvme_entry_regs::completion::status_feature_not_changeable,
    feature_of_all_namespaces = nvme_entry_regs::completion::status_feature_of_all_namespaces,
    write_fault = nvme_entry_regs::completion::status_write_fault,
    unrecovered_read_error = nvme_entry_regs::completion::status_unrecovered_read_error,
};

/// A fetched command, and its submission queue.
struct command {
    entry words;
    std::uint16_t queue = 0;

    std::uint8_t opcode() const {
        return static_cast<std::uint8_t>(words.get(nvme_entry_regs::command::opcode));
    }
    std::uint16_t id() const {
        return static_cast<std::uint16_t>(words.get(nvme_entry_regs::command::id));
    }
    bool is_admin() const { return queue == 0; }
};

constexpr std::uint32_t all_namespaces = ~0u;

}  // namespace trn::nvme
