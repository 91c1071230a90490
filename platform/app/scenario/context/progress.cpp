// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/progress.h"

#include <unistd.h>

#include <algorithm>

#include "platform/app/scenario/results/message.h"

namespace trn::scenario {

namespace {

outcome::begun begun_step(const step& current, std::uint64_t simulated_ns) {
    return {current.text, current.place.line, simulated_ns, current.inside, current.file};
}

}  // namespace

void progress::begin(const step& current, std::uint64_t simulated_ns) const {
    so_far_.timeline.push_back(begun_step(current, simulated_ns));
    send_step(current, simulated_ns, true);
}

void progress::resume(const step& current, std::uint64_t simulated_ns) const {
    send_step(current, simulated_ns, false);
}

void progress::send_step(const step& current, std::uint64_t simulated_ns, bool begins) const {
    send(pipe_, {.step = step_message{begun_step(current, simulated_ns), current.place.column,
                                      begins, getpid()}});
}

void progress::measured(const figure& measured) const {
    so_far_.figures.push_back(measured);
    send(pipe_, {.measured = measured});
}

void progress::noted(const std::string& line) const {
    if (std::ranges::find(so_far_.notes, line) == so_far_.notes.end())
        so_far_.notes.push_back(line);
    send(pipe_, {.note = line});
}

void progress::passed(std::uint64_t simulated_ns, std::uint64_t trace_digest) const {
    send(pipe_, {.end = end_message{true, "", simulated_ns, trace_digest, {}}});
}

void progress::failed(const std::string& message, std::uint64_t simulated_ns,
                      std::uint64_t trace_digest, const std::vector<std::string>& state) const {
    send(pipe_, {.end = end_message{false, message, simulated_ns, trace_digest, state}});
}

}  // namespace trn::scenario
