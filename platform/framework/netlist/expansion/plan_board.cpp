// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/expansion/plan_board.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "platform/framework/config/mix_in.h"
#include "platform/framework/netlist/expansion/module_planner.h"

namespace trn {

namespace {

/// FNV-1a over text, so that a board has the same digest on every host.
class hash {
public:
    void add(std::string_view text) {
        mix(text);
        mix(end_of_text);
    }
    void add(std::uint64_t number) { add(fmt::format("{:x}", number)); }
    /// plan::text() of the end.
    void add(const plan& board, const plan::endpoint& end) {
        const port& p = board.port_of(end);
        mix(board.module_of(end).path);
        mix(".");
        mix(p.name);
        if (p.count || p.lines) mix(fmt::format("[{}]", end.index));
        mix(end_of_text);
    }
    std::uint64_t value() const { return value_; }

private:
    static constexpr std::string_view end_of_text{"\0", 1};

    void mix(std::string_view text) { value_ = mix_in(value_, text); }
    std::uint64_t value_ = first_mix;
};

std::uint64_t digest_of(const plan& board) {
    hash all;
    for (const auto& m : board.modules) {
        all.add(m.path);
        if (m.built_as == nullptr) continue;
        all.add(m.built_as->name);
        for (const auto& p : m.built_as->parameters) all.add(p.name), all.add(p.show(m.config));
    }
    for (const auto& b : board.bindings) {
        all.add(board, b.source);
        all.add(board, b.target);
        if (!b.window) continue;
        all.add(b.window->base);
        all.add(b.window->size);
        all.add(b.window->target_base);
    }
    return all.value();
}

/// Also of the values of files, which the board's digest does not contain.
std::uint64_t digest_of_values(const plan& board) {
    hash all;
    all.add(board.digest);
    const auto add = [&](const variables& values) {
        for (const auto& [name, value] : values) all.add(name), all.add(value);
    };
    add(board.parameters);
    for (const auto& m : board.modules) add(m.parameters);
    return all.value();
}

using reading = std::function<plan(const plan_options&)>;

/// The values of a board that was read again, each with its origin.
parameter_origins origins_within(std::string_view scope, std::uint64_t digest, plan_options options,
                                 const reading& read) {
    parameter_origins all;
    options.on_origin = [&](std::string name, parameter_origin origin) {
        if (!is_within(scope, name)) return;
        auto& kept = all[std::move(name)];
        if (origin.default_text.empty()) origin.default_text = std::move(kept.default_text);
        kept = std::move(origin);
    };
    const plan again = read(options);
    if (digest_of_values(again) != digest)
        throw std::runtime_error("the files of the board have changed since it was built");
    for (const auto& [name, value] : again.parameters)
        if (is_within(scope, name)) all[name].text = value;
    for (const auto& m : again.modules)
        for (auto& [name, value] : again.parameters_of(m))
            if (const auto whole = m.path + "." + name; is_within(scope, whole))
                all[whole].text = std::move(value);
    return all;
}

plan finish(planning& all, const assembly& board, const kind_list& kinds,
            const plan_options& options, reading again) {
    all.on_origin = options.on_origin;
    all.open = options.open;
    module_planner(all, kinds, options).plan_all(board);
    all.result.problems->throw_if_any();
    plan& made = all.result;
    made.name = board.name;
    made.description = board.description;
    for (std::uint32_t i = 0; i < made.modules.size(); ++i)
        made.by_path.emplace(made.modules[i].path, i);
    made.digest = digest_of(made);
    made.read_origins = [digest = digest_of_values(made),
                         options = plan_options{options.boards, options.set, {}},
                         again = std::move(again)](std::string_view scope) {
        return origins_within(scope, digest, options, again);
    };
    return std::move(made);
}

}  // namespace

plan plan_board(const std::filesystem::path& file, const kind_list& kinds,
                const plan_options& options) {
    planning all;
    const auto board =
        read_assembly(config::document::load(file, *all.result.problems), file.parent_path(),
                      options.open ? file_role::either : file_role::board);
    all.result.file = file;
    return finish(all, board, kinds, options, [file, &kinds](const plan_options& asked) {
        return plan_board(file, kinds, asked);
    });
}

plan plan_text(std::string text, std::string name, const kind_list& kinds,
               const plan_options& options) {
    planning all;
    all.result.file = name;
    const auto board =
        read_assembly(config::document::parse(std::move(text), name, *all.result.problems), ".",
                      file_role::board);
    return finish(all, board, kinds, options,
                  [document = board.document, name, &kinds](const plan_options& asked) {
                      return plan_text(document->text(), name, kinds, asked);
                  });
}

}  // namespace trn
