// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "models/cards/nvme/controller/async_events.h"
#include "models/cards/nvme/controller/command_engine.h"
#include "models/cards/nvme/controller/features.h"
#include "models/cards/nvme/controller/health.h"
#include "models/cards/nvme/controller/identify.h"

namespace trn::nvme {

/// Executes the admin commands (NVM Express 5).
class admin_commands final : public command_set {
public:
    struct parts {
        queue_set& queues;
        medium& content;
        features& settings;
        health& state;
        async_events& events;
    };

    admin_commands(const identity& about, unsigned vectors, sc_core::sc_time command_time,
                   const parts& shared, std::function<command_engine&()> engine)
        : identity_(about),
          vectors_(vectors),
          command_time_(command_time),
          parts_(shared),
          engine_(std::move(engine)) {}

    void begin(job& task) override;
    void moved(job& task) override;
    void clear(job&) override {}

    /// Reports a temperature outside its thresholds as an event, if software has enabled it.
    void check_temperature();

private:
    void create_completions(job& task);
    void create_submission(job& task);
    void delete_submission(job& task);
    void identify(job& task);
    void set_feature(job& task);
    void log_page(job& task);
    void abort(job& task);
    void request_event(job& task);
    /// Returns data to the host.
    static void answer(job& task, std::vector<std::uint8_t> bytes);

    const identity identity_;
    const unsigned vectors_;
    const sc_core::sc_time command_time_;
    const parts parts_;
    std::function<command_engine&()> engine_;
};

}  // namespace trn::nvme
