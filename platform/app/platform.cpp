// SPDX-License-Identifier: Apache-2.0
#include "platform/app/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "models/soc/image_store/boot_images.h"
#include "platform/app/device_tree/board_tree.h"
#include "platform/app/device_tree/server_identity.h"
#include "platform/app/disk_images.h"
#include "platform/app/moment.h"
#include "platform/app/parameter_view.h"
#include "platform/app/register_view.h"
#include "platform/app/signals.h"
#include "platform/framework/command_line/version.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/mix_in.h"
#include "platform/framework/debug/engines.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/loader/source_lines.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/sanitized.h"

namespace trn {

namespace fs = std::filesystem;
using rpc::json;

namespace {

[[noreturn]] void user_mistake(mistake code, const fs::path& file, std::string message,
                               std::string suggestion = {}) {
    throw config_error(diagnostic{.code = code,
                                  .file = file.string(),
                                  .message = std::move(message),
                                  .suggestion = std::move(suggestion)});
}

std::uint64_t mix_in_file(std::uint64_t hash, const fs::path& file) try {
    constexpr std::uint64_t largest_image = std::uint64_t{1} << 30;
    const auto image = read_file(file, largest_image);
    return mix_in(hash, {reinterpret_cast<const char*>(image.data()), image.size()});
} catch (const file_error&) {
    return hash;  // the model that loads the file reports the error, with its place
}

// The digest depends on the content of the images, not on their paths.
std::string digest_text(std::uint64_t hash, const plan& board) {
    for (const auto& image : images_of(board)) hash = mix_in_file(hash, find_firmware(image));
    return fmt::format("{:016x}", hash);
}

/// The assembly that contains `path`: "server3" for "server3.host", "" for "host".
std::string container_of(std::string_view path) {
    const auto dot = path.rfind('.');
    return std::string(path.substr(0, dot == path.npos ? 0 : dot));
}

/// The kernels of hosts inside: what their image stores hold.
std::vector<linux_symbols::server> linux_servers(const plan& board) {
    std::vector<linux_symbols::server> all;
    for (const std::uint32_t store : image_stores(board))
        for (const auto& name : boot_files_of(board, store))
            if (const auto file = find_firmware(name); is_linux_image(file))
                all.push_back({container_of(board.modules[store].path), file});
    return all;
}

/// EFA contract 1: device ids from 1d0f:efa0 on, one for each version.
bool is_efa(std::uint32_t pci_id) {
    return (pci_id & 0xfff0'ffff) == 0xefa0'1d0f;
}

/// Paths of the board's chips: the outermost modules whose type is in the folder chips/.
std::vector<std::string> chips_of(const plan& board) {
    std::vector<std::string> all;
    for (const auto& m : board.modules)
        if (m.type.starts_with("chips/") &&
            (all.empty() || !m.path.starts_with(all.back() + ".")))  // not inside the last chip
            all.push_back(m.path);
    return all;
}

}  // namespace

std::set<std::string> images_of(const plan& board) {
    std::set<std::string> names;
    for (const auto& m : board.modules) {
        if (m.built_as == nullptr || is_disk(m)) continue;  // assemblies pass images on
        if (auto image = board.parameter_of(m, "image"); !image.empty())
            names.insert(std::move(image));
    }
    for (const std::uint32_t store : image_stores(board)) {
        const auto stored = boot_files_of(board, store);
        names.insert(stored.begin(), stored.end());
    }
    return names;
}

platform::platform(const kind_list& kinds, const platform_options& options) : loop_(options.time) {
    set_seed(options.seed);
    set_timing(options.timing);
    system_ = std::make_unique<system>(read_board(kinds, options));
    apply(options.misuse);
    try {
        store_device_trees(*system_);
    } catch (const boot_image_error& wrong) {
        user_mistake(mistake::out_of_range, system_->board().file, wrong.what());
    }
    if (!options.trace.empty()) try {
            trace::open(options.trace.string(), options.digest);
        } catch (const std::system_error& e) {
            user_mistake(mistake::unreadable_file, options.trace,
                         fmt::format("cannot write the trace: {}", e.code().message()));
        }
    if (trace::for_viewer()) {
        const auto programs = programs_of(system_->board());
        functions_ = std::make_unique<function_names>(
            std::vector<fs::path>(programs.begin(), programs.end()));
    }
    trace::set_processes(chips_of(system_->board()));
    methods_ = std::make_unique<control>(
        loop_, identity{project_version(), system_->board().name, digest_});
    try {
        loop_.elaborate();
    } catch (const sc_core::sc_report& why) {
        system_->refuse(why);
    } catch (const config_error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& why) {  // of end_of_elaboration() and the like
        user_mistake(mistake::refused_by_model, system_->board().file,
                     fmt::format("a module fails when the board is elaborated: {}", why.what()));
    } catch (...) {
        user_mistake(mistake::refused_by_model, system_->board().file,
                     "a module throws an object of an unknown type when the board is elaborated");
    }
    reports_.install();  // also if a model has set a handler of its own
    add_harts(*methods_);
    add_engines(*methods_);
    linux_ = std::make_unique<linux_symbols>(linux_servers(system_->board()));
    linux_->add_methods(*methods_);
    add_methods();
    misuse::set_source_lookup(
        [this](const initiator& hart, std::uint64_t pc) { return source_at(hart.describe(), pc); });
    share_log();
    if (!options.waves.file.empty()) open_waves(options.waves);
}

/// Modules that write events to the trace under their own names, and what the programs add.
std::vector<std::string> platform::traced_modules() const {
    std::vector<std::string> all{"scenario"};
    for (const auto& chip : chips()) all.push_back(chip + ".host");
    for (const auto& m : system_->board().modules)
        if (m.built_as != nullptr && !m.built_as->events.empty()) all.push_back(m.path);
    return all;
}

void platform::open_waves(const wave_options& options) {
    try {
        auto content = find_signals(options.signals, traced_modules());
        const auto condition = [](std::string_view option, const std::string& text) {
            return text.empty() ? nullptr : moment_condition(parse_moment(option, text));
        };
        content.begins = condition("--vcd-from", options.begin);
        content.ends = condition("--vcd-until", options.end);
        waves_ = std::make_unique<wave_file>(options.file.string(), std::move(content));
        loop_.on_time_step([this] { waves_->time_step_ended(); });
    } catch (const std::invalid_argument& e) {
        user_mistake(mistake::unknown_module, system_->board().file,
                     fmt::format("--vcd: {}", e.what()));
    } catch (const std::system_error& e) {
        user_mistake(mistake::unreadable_file, options.file,
                     fmt::format("cannot write the waveforms: {}", e.code().message()));
    }
}

std::string platform::finish_records() {
    trace::close();
    if (waves_) waves_->finish();
    if (!trace::failure().empty()) return trace::failure();
    return waves_ ? waves_->failure() : std::string();
}

platform::~platform() {
    trace::close();
    misuse::set_source_lookup({});
    log::replace_sink(std::move(*earlier_sink_));
    // The modules are not destroyed: a process has one board, and its exit returns the memory of
    // ten thousand modules at once. Their destructors write nothing.
    if (!sanitized) static_cast<void>(system_.release());
}

static json log_event(const log::record& logged) {
    json event = {{"time_ps", logged.time_ps},
                  {"severity", log::severity_name(logged.severity)},
                  {"module", logged.module},
                  {"text", logged.text},
                  {"line", log::to_line(logged)}};
    if (!logged.rule.empty()) event["rule"] = logged.rule;
    if (!logged.type.empty())
        event["report"] = {{"type", logged.type}, {"file", logged.file}, {"line", logged.line}};
    return event;
}

// Sends log lines to their former destination and to subscribers.
void platform::share_log() {
    earlier_sink_ = std::make_shared<log::sink>();
    *earlier_sink_ = log::replace_sink([earlier = earlier_sink_, this](const log::record& r) {
        if (*earlier) (*earlier)(r);
        if (methods_->subscribed("log")) methods_->publish("log", log_event(r));
    });
}

std::string board_digest(const plan& board, timing_mode timing) {
    return digest_text(mix_in(board.digest, timing == timing_mode::contended ? "c" : "f"), board);
}

plan platform::read_board(const kind_list& kinds, const platform_options& options) {
    auto board = load_board(options.board, kinds, options.set, options.boards);
    auto hash = mix_in(board.digest, options.timing == timing_mode::contended ? "c" : "f");
    if (!options.firmware.empty()) {
        const auto& known = board.parameters;
        if (std::ranges::find(known, "firmware", &std::pair<std::string, std::string>::first) ==
            known.end())
            user_mistake(mistake::unknown_parameter, board.file,
                         "this board has no parameter 'firmware', so --firmware has no effect");
        const auto file = find_firmware(options.firmware);
        if (std::error_code unknown; !fs::exists(file, unknown))
            user_mistake(mistake::unreadable_file, "command line",
                         fmt::format("--firmware: there is no file '{}'{}", file.string(),
                                     firmware_hint(options.firmware)));
        auto set = options.set;
        set.push_back("firmware=" + options.firmware);
        board = load_board(options.board, kinds, set, options.boards);
    }
    if (options.prepare) options.prepare(board);
    digest_ = digest_text(hash, board);
    return board;
}

stop_reason platform::boot(const sc_core::sc_time& limit) {
    run_loop::goal ready{"the host", "every chip's firmware to publish its routing id"};
    ready.condition = ready_condition();
    ready.until = later(sc_core::sc_time_stamp(), limit);
    return loop_.run(std::move(ready));
}

std::vector<platform::function> platform::functions() const {
    constexpr std::uint32_t accelerator = 0x12;  // PCI base class
    std::vector<function> all;
    const auto product = product_of(system_->board());
    system_->for_each<serves_functions>([&](auto& host) {
        const auto server = container_of(dynamic_cast<sc_core::sc_object&>(host).name());
        for (const auto& f : host.functions()) {
            // A chip is the assembly around its function; a card may be the function itself.
            const auto whole = container_of(f.device->name());
            all.push_back({whole == server ? f.device->name() : whole, server, f.port,
                           f.class_code >> 16 == accelerator, host.cores(),
                           fmt::format("{:02x}:{:02x}.{}", f.id >> 8, f.id >> 3 & 0x1f, f.id & 7),
                           product, f.id, f.bridges, is_efa(f.pci_id)});
        }
    });
    return all;
}

std::vector<platform::function> platform::chip_functions() const {
    auto all = functions();
    std::erase_if(all, [](const function& f) { return !f.chip; });
    return all;
}

std::set<fs::path> programs_of(const plan& board) {
    std::set<fs::path> programs;
    std::error_code unreadable;
    for (const auto& name : images_of(board)) {
        const auto image = find_firmware(name);
        programs.insert(image);
        for (const auto& file : fs::directory_iterator(image.parent_path(), unreadable))
            if (file.path().extension() == ".elf") programs.insert(file.path());
    }
    return programs;
}

std::string platform::source_at(std::string_view hart, std::uint64_t pc) {
    if (!sources_) {
        const auto programs = programs_of(system_->board());
        sources_ =
            std::make_unique<source_lines>(std::vector<fs::path>(programs.begin(), programs.end()));
    }
    std::array<std::uint8_t, 16> code{};
    auto* memory = methods_->spaces().find(hart);
    if (memory == nullptr ||
        memory->peek(pc, std::as_writable_bytes(std::span(code))) != code.size())
        return {};
    const auto found = sources_->find(pc, code);
    return found.empty() ? linux_->describe(hart, pc) : found;
}

void platform::apply(const misuse::choices& chosen) const {
    const auto& board = system_->board();
    misuse::choices{.allowances = board.allowances}.apply();
    for (const auto& allowance : chosen.allowances)
        if (const auto why = unknown_modules(board, allowance.modules))
            user_mistake(why->code, allowance.place, why->message, why->suggestion);
    chosen.apply();
}

std::vector<std::string> platform::chips() const {
    std::vector<std::string> all;
    for (const auto& f : chip_functions()) all.push_back(f.name);
    return all;
}

void platform::add_methods() {
    add_register_methods(*methods_);
    add_parameter_methods(*methods_, system_->board());
    methods_->methods().add(
        {"signals",
         "What waveforms can show (doc/waveforms.md): lines, registers, fields, what models "
         "publish, and transactions.",
         {{"pattern", "text", "names, or their first parts; `*` and `?` do not stand for dots",
           "all"}},
         {{"", "list", "each with:"},
          {"name", "text"},
          {"bits", "number", "except of transactions"},
          {"elements", "number", "of an array"},
          {"now", "number or text", "the value or state that a model publishes"},
          {"states", "list", "names of the values 0, 1, ... of a state"}},
         {{rpc::code::not_found, "nothing matches, or too much"}}},
        [this](const auto& p, auto&) {
            p.only({"pattern"});
            try {
                return list_signals(p.text("pattern", ""), traced_modules());
            } catch (const std::invalid_argument& wrong) {
                throw rpc::error(rpc::code::not_found, wrong.what());
            }
        });
    methods_->add_list("functions", [this] {
        json all = json::array();
        for (const auto& f : functions()) {
            json bars = json::array();
            for (unsigned i = 0; i < function_port::bar_count; ++i)
                if (const auto bar = f.port->bar(i); bar.size != 0)
                    bars.push_back(
                        {{"bar", i}, {"size", bar.size}, {"bus_address", bar.bus_address}});
            all.push_back({{"name", f.name},
                           {"server", f.server},
                           {"bdf", f.bdf},
                           {"chip", f.chip},
                           {"efa", f.efa},
                           {"product", f.product},
                           {"bars", bars}});
        }
        return all;
    });
    methods_->add_list("misuse", [this] { return misuse::to_json(chips())["rules"]; });
    methods_->methods().add(
        {"misuse",
         "Violations of misuse rules; sets policies, or clears the counts.",
         {{"policy", "text, as \"fail:TRN-DMA-003\"", "as of the option --misuse"},
          {"clear", "true or false", "forgets the violations", "false"}},
         {{"failed", "true or false", "a rule with policy `fail` was broken"},
          {"total", "number", "of violations"},
          {"chips", "list", "their number by chip"},
          {"rules", "list", "their number by rule and module, with the first one"},
          {"allowed", "list", "what each exception has counted"}}},
        [this](const auto& p, auto&) {
            if (p.has("policy")) {
                try {
                    misuse::policy_choice::parse(p.text("policy")).apply();
                } catch (const std::invalid_argument& e) {
                    throw rpc::error(rpc::code::invalid_params, e.what());
                }
            }
            if (p.flag("clear", false)) misuse::clear();
            return misuse::to_json(chips());
        });
    methods_->methods().add(
        {"inspect",
         "A module.",
         {{"module", "text", "its full name", rpc::required}},
         {{"name, type", "text"},
          {"parameters", "{name: text}", "as the board gives them"},
          {"registers", "list", "as of `registers`"},
          {"waits_for", "text", "what it waits for; absent if for nothing"}},
         {{rpc::code::not_found, "no such module"}}},
        [this](const auto& p, auto&) {
            const auto name = p.text("module");
            const auto* planned = system_->board().find(name);
            auto* module = system_->find(name);
            if (!planned || !module)
                throw rpc::error(rpc::code::not_found,
                                 fmt::format("there is no module '{}'", name));
            json result = {{"name", name}, {"type", planned->type}};
            for (const auto& [key, value] : system_->board().parameters_of(*planned))
                result["parameters"][key] = value;
            if (auto rows = registers_of(name); !rows.empty())
                result["registers"] = std::move(rows);
            if (auto* m = dynamic_cast<describes_wait*>(module))
                if (const auto text = m->describe_wait()) result["waits_for"] = *text;
            return result;
        });
}

}  // namespace trn
