// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/progress.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "platform/app/scenario/results/message.h"

namespace trn::scenario {

void progress::at(const step& current, std::uint64_t simulated_ns) const {
    timeline_.push_back(
        {current.text, current.where.line, simulated_ns, current.inside, current.file});
    send_step(current, simulated_ns, true);
}

void progress::again(const step& current, std::uint64_t simulated_ns) const {
    send_step(current, simulated_ns, false);
}

void progress::send_step(const step& current, std::uint64_t simulated_ns, bool begins) const {
    send_line(pipe_, {{"step", current.text},
                      {"begins", begins},
                      {"inside", current.inside},
                      {"file", current.file},
                      {"line", current.where.line},
                      {"column", current.where.column},
                      {"process", getpid()},
                      {"simulated_ns", simulated_ns}});
}

void progress::measured(const figure& measured) const {
    send_line(pipe_, {{"figure", measured}});
}

void progress::noted(const std::string& line) const {
    send_line(pipe_, {{"note", line}});
}

void progress::passed(std::uint64_t simulated_ns, std::uint64_t trace_digest) const {
    send_line(pipe_, {{"simulated_ns", simulated_ns}, {"trace_digest", trace_digest}});
}

void progress::failed(const std::string& message, std::uint64_t simulated_ns,
                      std::uint64_t trace_digest, const std::vector<std::string>& state) const {
    send_line(pipe_, {{"failed", message},
                      {"simulated_ns", simulated_ns},
                      {"trace_digest", trace_digest},
                      {"state", state}});
}

}  // namespace trn::scenario
