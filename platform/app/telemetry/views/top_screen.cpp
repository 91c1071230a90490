// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "platform/app/telemetry/views/runtimes.h"
#include "platform/app/telemetry/views/summary.h"

namespace trn::telemetry {

namespace {

constexpr const char* green = "32";
constexpr const char* yellow = "33";
constexpr const char* red = "31";

/// A line of text with colours, of which only the text counts for the width.
class screen_line {
public:
    explicit screen_line(bool coloured) : coloured_(coloured) {}

    screen_line& add(const std::string& text, const char* colour = "") {
        parts_.emplace_back(line_text(text), colour);
        return *this;
    }
    std::string text(std::size_t columns) const {
        std::string all;
        std::size_t used = 0;
        for (const auto& [text, colour] : parts_) {
            if (used >= columns) break;
            const auto shown = columns_of(text) > columns - used ? cut(text, columns - used) : text;
            used += columns_of(shown);
            const bool has_colour = coloured_ && *colour != '\0';
            all += has_colour ? fmt::format("\033[{}m{}\033[0m", colour, shown) : shown;
        }
        return all + "\n";
    }

private:
    const bool coloured_;
    std::vector<std::pair<std::string, const char*>> parts_;
};

std::string bar(double percent, std::size_t width) {
    const auto filled = static_cast<std::size_t>(
        std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(width) + 0.5);
    return std::string(filled, '|') + std::string(width - filled, ' ');
}

std::string rate_text(double per_second) {
    constexpr std::array units{"", "K", "M", "G", "T", "P"};
    std::size_t unit = 0;
    for (; per_second >= 1000 && unit + 1 < units.size(); ++unit) per_second /= 1000;
    return fmt::format("{:.1f}{}", per_second, units[unit]);
}

struct device_row {
    const instance* machine;
    const device* d;
    std::vector<logical_core> cores;
    known<double> mean;  // percent of the cores that are known
    known<std::uint64_t> memory;
};

class screen {
public:
    screen(const top_view& view, const machine_state* before, const machine_state& now,
           const host_usage& host)
        : view_(view), now_(now), host_(host), work_(before, now) {
        for (const auto& machine : now.instances) {
            for (const auto& p : machine.processes)
                if (!is_tool(p)) processes_.emplace_back(&machine, &p);
        }
        chosen_ =
            view.tab >= 1 && view.tab <= processes_.size() ? &processes_[view.tab - 1] : nullptr;
        for (const auto& machine : now.instances)
            for (const auto& d : machine.devices)
                if (is_shown(machine, d)) rows_.push_back(row_of(machine, d));
        sort();
    }

    top_text text() {
        add_title();
        add_cores();
        const auto middle = std::move(lines_);
        lines_.clear();
        add_host();
        add_memory();
        add_processes();
        add_tabs();
        const std::size_t head = head_lines_, bottom = lines_.size();
        const std::size_t devices = middle.size() - head;
        const std::size_t room = view_.rows == 0 ? devices
                                 : view_.rows > head + bottom + 1
                                     ? std::min(devices, view_.rows - head - bottom)
                                     : std::min<std::size_t>(devices, 1);
        top_text out;
        out.last_scroll = devices - room;
        out.tabs = processes_.size() + 1;
        const auto first = std::min(view_.scrolled, out.last_scroll);
        std::vector<std::string> all(middle.begin(), middle.begin() + static_cast<long>(head));
        all.insert(all.end(), middle.begin() + static_cast<long>(head + first),
                   middle.begin() + static_cast<long>(head + first + room));
        all.insert(all.end(), lines_.begin(), lines_.end());
        if (view_.rows != 0 && all.size() > view_.rows) all.resize(view_.rows);
        for (const auto& line : all) out.text += line;
        return out;
    }

private:
    bool is_shown(const instance& machine, const device& d) const {
        if (chosen_ == nullptr) return true;
        return chosen_->first == &machine &&
               std::ranges::count(chosen_->second->devices, d.index) != 0;
    }

    device_row row_of(const instance& machine, const device& d) const {
        device_row row{&machine, &d, logical_cores_of(work_, machine, d), {}, {}};
        double sum = 0;
        unsigned known_cores = 0;
        for (const auto& c : row.cores) {
            if (c.memory_bytes) row.memory = row.memory.value_or(0) + *c.memory_bytes;
            if (!c.utilisation) continue;
            sum += *c.utilisation;
            ++known_cores;
        }
        if (known_cores != 0) row.mean = sum / known_cores;
        return row;
    }

    void sort() {
        if (view_.order == top_order::utilisation)
            std::ranges::stable_sort(rows_, std::greater<>(), &device_row::mean);
        if (view_.order == top_order::memory)
            std::ranges::stable_sort(rows_, std::greater<>(), &device_row::memory);
        if (view_.order == top_order::status)
            std::ranges::stable_sort(rows_, std::greater<>(), [](const device_row& row) {
                return status_text(*row.d) != "ready";
            });
    }

    screen_line line() const { return screen_line(view_.coloured); }
    void add(const screen_line& added) { lines_.push_back(added.text(view_.columns)); }

    void add_title() {
        const auto& machine = now_.instances.front();
        const bool is_one = now_.instances.size() == 1 && !machine.id.empty();
        auto title = fmt::format("trn-top running on {} ({})", is_one ? machine.id : now_.source,
                                 machine.type.empty() ? not_known : machine.type);
        if (now_.time_ps)
            title += fmt::format(", simulated {:.6f} s", static_cast<double>(*now_.time_ps) / 1e12);
        const auto width = columns_of(title);
        add(line().add(std::string(width < view_.columns ? (view_.columns - width) / 2 : 0, ' ') +
                       title));
    }

    void add_cores() {
        double sum = 0;
        unsigned known_rows = 0;
        for (const auto& row : rows_) {
            sum += row.mean.value_or(0);
            known_rows += row.mean.has_value();
        }
        const auto mean =
            known_rows != 0 ? fmt::format("{:.2f}%", sum / known_rows) : std::string(not_known);
        const auto* first = rows_.empty() ? nullptr : rows_.front().d;
        std::string version;
        if (first && first->architecture.starts_with("ND"))
            version =
                first->architecture.substr(2) + (cores_of_logical_core(*first) > 1 ? "d" : "");
        add(line().add(fmt::format("NeuronCore {} {} (Avg: {})", version,
                                   view_.shows_flops ? "FLOPS" : "Utilization", mean)));
        head_lines_ = lines_.size();
        const bool several = now_.instances.size() > 1;
        std::size_t label_width = 5;
        for (const auto& row : rows_)
            label_width = std::max(label_width, label_of(row, several).size() + 1);
        for (const auto& row : rows_)
            if (status_text(*row.d) != "ready")
                status_width_ = std::max(status_width_, status_of(row).size());
        status_width_ = std::min(status_width_, view_.columns / 2);
        for (const auto& row : rows_) add(row, label_width, several);
    }

    static std::string status_of(const device_row& row) {
        const auto faulty = faulty_text(*row.d);
        const auto status = status_text(*row.d);
        return faulty.empty() ? status : fmt::format("{}: {}", status, faulty);
    }

    static std::string label_of(const device_row& row, bool several) {
        return several ? fmt::format("{}/ND{}", row.machine->name, row.d->index)
                       : fmt::format("ND{}", row.d->index);
    }

    void add(const device_row& row, std::size_t label_width, bool several) {
        auto out = line();
        const auto label = label_of(row, several);
        const auto status = status_text(*row.d);
        out.add(label + std::string(label_width - label.size(), ' '), status == "ready" ? "" : red);
        constexpr std::size_t number = 9;  // "[100.00%]"
        const auto count = std::max<std::size_t>(row.cores.size(), 1);
        const auto taken = label_width + status_width_;
        const auto room = view_.columns > taken ? view_.columns - taken : 0;
        const auto cell = room / count;
        for (std::size_t n = 0; n < row.cores.size(); ++n) {
            const auto& c = row.cores[n];
            if (view_.shows_flops) {
                const auto text = c.flops ? rate_text(*c.flops) : std::string(not_known);
                out.add(fmt::format("{:>{}} ", text,
                                    cell > 1 ? std::min<std::size_t>(cell - 1, 10) : 1));
                continue;
            }
            const auto name = cell > number + 8 ? fmt::format("NC{} ", n) : std::string();
            const auto used = name.size() + number + 1;
            const auto colour = c.utilisation.value_or(0) > 90   ? red
                                : c.utilisation.value_or(0) > 50 ? yellow
                                                                 : green;
            out.add(name);
            if (cell > used) out.add(bar(c.utilisation.value_or(0), cell - used), colour);
            if (cell > number)
                out.add(c.utilisation ? fmt::format("[{:5.2f}%] ", *c.utilisation)
                                      : fmt::format("[{:>6}] ", not_known));
            else  // narrow: percent without decimals
                out.add(c.utilisation ? fmt::format("{:>3.0f} ", *c.utilisation) : "n/a ", colour);
        }
        if (status != "ready" || row.cores.empty()) out.add(status_of(row), red);
        add(out);
    }

    void add_host() {
        if (const auto shares = host_.mean_percent()) {
            const auto& s = *shares;
            const double user = s[0] + s[1], system = s[2] + s[4] + s[5] + s[6];
            const std::size_t width =
                view_.columns > 45 ? std::min<std::size_t>(30, view_.columns - 45) : 0;
            add(line()
                    .add("vCPU Utilization: System vCPU Usage ")
                    .add(bar(user, width), green)
                    .add(fmt::format("[{:.1f}%, {:.1f}%]", user, system)));
        }
    }

    void add_memory() {
        named_values host, on_device;
        known<std::uint64_t> device_bytes, host_bytes;
        const auto add_bytes = [](known<std::uint64_t>& sum, std::uint64_t bytes) {
            sum = sum.value_or(0) + bytes;
        };
        const auto add_host_kinds = [&](const named_values& values) {
            for (const auto& [kind, bytes] : values) {
                host[kind] += bytes;
                add_bytes(host_bytes, bytes);
            }
        };
        for (const auto& row : rows_) {
            add_host_kinds(row.d->host_memory);
            if (row.memory) add_bytes(device_bytes, *row.memory);
            for (const auto& c : row.cores)
                for (const auto& [kind, bytes] : c.memory) on_device[kind] += bytes;
        }
        const bool by_core = !on_device.empty();  // the memory of all processes
        for (const auto& [machine, p] : processes_) {
            if (chosen_ != nullptr && chosen_->second != p) continue;
            add_host_kinds(p->host_memory);
            if (!by_core)
                for (const auto& [kind, bytes] : p->device_memory) {
                    on_device[kind] += bytes;
                    add_bytes(device_bytes, bytes);
                }
        }
        const auto kind = [](const named_values& values, const char* name) {
            const auto found = values.find(name);
            return found == values.end() ? std::string(not_known) : bytes_text(found->second);
        };
        add(line().add("Memory Usage Summary"));
        add(line().add(
            !host_bytes
                ? fmt::format("  Host Used Memory    Total: {}", not_known)
                : fmt::format("  Host Used Memory    Total: {}  Tensors: {}  Constants: {}  "
                              "DMA Buffers: {}  App. Memory: {}",
                              bytes_text(*host_bytes), kind(host, "tensors"),
                              kind(host, "constants"), kind(host, "dma_buffers"),
                              kind(host, "application_memory"))));
        add(line().add(
            !device_bytes
                ? fmt::format("  Device Used Memory  Total: {}", not_known)
                : fmt::format("  Device Used Memory  Total: {}  Tensors: {}  Constants: {}  Model "
                              "Code: {}  Runtime Memory: {}  Model Scratchpad: {}",
                              bytes_text(*device_bytes), kind(on_device, "tensors"),
                              kind(on_device, "constants"), kind(on_device, "model_code"),
                              kind(on_device, "runtime_memory"),
                              kind(on_device, "model_shared_scratchpad"))));
    }

    void add_processes() {
        constexpr std::size_t most = 4;
        std::size_t shown = 0;
        for (const auto& [machine, p] : processes_) {
            if (chosen_ != nullptr && chosen_->second != p) continue;
            if (++shown > most) {
                add(line().add(fmt::format("  ... {} more", processes_.size() - most)));
                break;
            }
            const auto median = p->latency_ns.find("p50");
            const auto latency =
                median != p->latency_ns.end()
                    ? fmt::format(", latency {:.3f} ms", static_cast<double>(median->second) / 1e6)
                    : "";
            add(line().add(fmt::format("  {} {}: devices {}{}", p->pid, p->name,
                                       list_text(p->devices), latency)));
        }
    }

    void add_tabs() {
        auto out = line();
        out.add("Neuron Apps ");
        const auto tab = [&](std::size_t n, const std::string& name) {
            const bool is_chosen =
                (chosen_ == nullptr && n == 0) || (n != 0 && chosen_ == &processes_[n - 1]);
            if (is_chosen)
                out.add(fmt::format(">[{}]:{}< ", n + 1, name), green);
            else
                out.add(fmt::format(" [{}]:{}  ", n + 1, name));
        };
        tab(0, "all");
        for (std::size_t n = 0; n < processes_.size(); ++n)
            tab(n + 1, fmt::format("{}", processes_[n].second->pid));
        add(out);
        constexpr std::array orders{"device", "utilization", "memory", "status"};
        add(line().add(
            fmt::format("q: quit  arrows: scroll  a/d/1-9: application  f: {}  s: sort by {}",
                        view_.shows_flops ? "utilization" : "FLOPS",
                        orders[(static_cast<std::size_t>(view_.order) + 1) % orders.size()])));
    }

    const top_view& view_;
    const machine_state& now_;
    const host_usage& host_;
    const interval work_;
    std::vector<std::pair<const instance*, const process*>> processes_;
    const std::pair<const instance*, const process*>* chosen_ = nullptr;
    std::vector<device_row> rows_;
    std::vector<std::string> lines_;
    std::size_t head_lines_ = 0;
    std::size_t status_width_ = 0;  // columns of the longest status that is not "ready"
};

}  // namespace

top_text top_screen(const top_view& view, const machine_state* before, const machine_state& now,
                    const host_usage& host) {
    return screen(view, before, now, host).text();
}

}  // namespace trn::telemetry
