// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/ls_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/app/telemetry/views/summary.h"
#include "platform/app/telemetry/views/text_table.h"

namespace trn::telemetry {

namespace {

std::string or_not_known(const std::string& text) {
    return text.empty() ? not_known : line_text(text);
}

std::vector<const process*> processes_of(const instance& machine, const device& d,
                                         bool with_tools) {
    std::vector<const process*> all;
    for (const auto& p : machine.processes)
        if (std::ranges::count(p.devices, d.index) != 0 && (with_tools || !is_tool(p)))
            all.push_back(&p);
    return all;
}

const char* colour_of(const device& d) {
    const auto status = status_text(d);
    return status == "ready" ? "" : status == "gone" || status == "unhealthy" ? "31" : "33";
}

class table_of_instance {
public:
    table_of_instance(const instance& machine, const ls_options& options)
        : machine_(machine), options_(options) {
        for (const auto& d : machine.devices) {
            for (const auto* p : processes_of(machine, d, options.all_processes)) {
                has_processes_ = true;
                has_cores_ = has_cores_ || p->cores.has_value();
            }
            has_status_ = has_status_ || status_text(d) != "ready";
        }
    }

    std::string text() const {
        text_table table;
        for (const auto* head : {"NEURON\nDEVICE", "NEURON\nCORES", "NEURON\nCORE IDS",
                                 "NEURON\nMEMORY", "CONNECTED\nDEVICES", "PCI\nBDF"})
            table.add_column(head);
        if (has_processes_) table.add_column("\nPID");
        if (has_processes_) table.add_column("\nCOMMAND");
        if (has_cores_) table.add_column("PROCESS\nCORE IDS");
        if (has_cores_) table.add_column("PROCESS\nMEMORY");
        table.add_column("CPU\nAFFINITY");
        table.add_column("NUMA\nNODE");
        if (has_processes_) table.add_column("RUNTIME\nVERSION");
        if (has_status_) table.add_column("\nSTATUS");
        for (const auto& d : machine_.devices) add(table, d);
        return table.text(options_.columns, options_.coloured);
    }

private:
    void add(text_table& table, const device& d) const {
        const auto processes = processes_of(machine_, d, options_.all_processes);
        std::vector<std::string> cells{
            fmt::format("{}", d.index),
            fmt::format("{}", logical_cores(d)),
            range_text(first_logical_core(machine_, d), logical_cores(d)),
            gigabytes_text(d.memory_bytes),
            d.connected ? list_text(*d.connected) : not_known,
            or_not_known(d.bdf)};
        if (has_processes_) add(cells, d, processes.empty() ? nullptr : processes.front());
        cells.push_back(d.cpu_affinity.value_or(not_known));
        cells.push_back(d.numa_node.value_or(not_known));
        if (has_processes_) cells.push_back(processes.empty() ? "" : "NA");
        if (has_status_) {
            const auto faulty = faulty_text(d);
            cells.push_back(faulty.empty() ? status_text(d)
                                           : fmt::format("{}: {}", status_text(d), faulty));
        }
        table.add_row(std::move(cells), colour_of(d));
        for (std::size_t n = 1; n < processes.size(); ++n) {
            std::vector<std::string> more(6);
            add(more, d, processes[n]);
            more.insert(more.end(), {"", "", "NA"});
            table.add_row(std::move(more));
        }
    }

    void add(std::vector<std::string>& cells, const device& d, const process* p) const {
        const std::size_t limit = options_.wide ? 80 : 40;
        cells.push_back(p ? fmt::format("{}", p->pid) : "");
        cells.push_back(p ? cut(p->command, limit) : "");
        if (!has_cores_) return;
        const auto cores = p ? held_cores(*p, machine_, d) : std::nullopt;
        cells.push_back(cores ? list_text(*cores) : p ? not_known : "");
        cells.push_back(cores ? bytes_text(sum_of(p->device_memory).value_or(0))
                        : p   ? not_known
                              : "");
    }

    const instance& machine_;
    const ls_options& options_;
    bool has_processes_ = false, has_cores_ = false, has_status_ = options_.wide;
};

}  // namespace

std::string ls_head(const machine_state& state, const instance& machine) {
    std::string text;
    if (state.instances.size() > 1) text += fmt::format("server: {}\n", or_not_known(machine.name));
    text += fmt::format("instance-type: {}\ninstance-id: {}\n", or_not_known(machine.type),
                        or_not_known(machine.id));
    if (!machine.devices.empty() && has_logical_cores(machine.devices.front()))
        text += fmt::format("logical-neuroncore-config: {}\n",
                            cores_of_logical_core(machine.devices.front()));
    return text;
}

std::string ls_table(const machine_state& state, const ls_options& options) {
    std::string text;
    for (const auto& machine : state.instances) {
        text += ls_head(state, machine);
        text += table_of_instance(machine, options).text();
        if (machine.process_error)
            text +=
                fmt::format("processes: {} ({})\n", not_known, line_text(*machine.process_error));
    }
    return text;
}

}  // namespace trn::telemetry
