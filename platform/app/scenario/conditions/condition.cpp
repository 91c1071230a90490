// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/conditions/condition.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "platform/app/register_view.h"
#include "platform/app/scenario/conditions/function_watch.h"
#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/kernel/one_counter.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::config {

template <>
struct choices<initiator::kind> {
    using enum initiator::kind;
    static constexpr std::array list{
        choice<initiator::kind>{"host", host},
        choice<initiator::kind>{"firmware", firmware},
        choice<initiator::kind>{"dma", dma},
        choice<initiator::kind>{"tools", tool},
    };
};

}  // namespace trn::config

namespace trn::scenario {

std::optional<std::size_t> wanted_text::find(const std::string& output,
                                             scenario_context& ctx) const {
    if (text.empty()) return std::nullopt;  // it would be found in every output
    if (!expression) {
        const auto found = output.find(text);
        return found == output.npos ? std::nullopt : std::optional(found + text.size());
    }
    const auto found = expression->search(output, names.size());
    if (!found) return std::nullopt;
    for (std::size_t i = 0; i < names.size(); ++i) ctx.captured[names[i]] = found->groups[i];
    return found->end;
}

wanted_text wanted_text_of(const reader& r, std::string_view key, std::string text,
                           std::vector<std::string> names) {
    wanted_text wanted{std::move(text)};
    std::string fault;
    if (const auto value = r.node().find(key); value.is_scalar() && value.raw().empty())
        value.report(mistake::wrong_shape, "an empty text is in every output");
    if (key == "matches") wanted.expression = expression::parse(wanted.text, fault);
    if (!fault.empty()) r.node().at(key).report(mistake::not_a_choice, fault);
    wanted.names = std::move(names);
    const auto groups = wanted.expression ? wanted.expression->groups() : 0;
    if (wanted.expression && wanted.names.size() > groups)
        r.node().at("as").report(
            mistake::out_of_range,
            fmt::format("'as' names more than the {} groups in ( ) of the expression", groups));
    return wanted;
}

nlohmann::json number_source::named(const std::string& name) const {
    return {{"register", name}, {"index", index}, {"instance", instance}};
}

namespace {

using rpc::json;

/// Watches a number: polled, or read when the event `changed` is notified.
class number_watch final : public watch {
public:
    number_watch(range wanted, std::function<std::uint64_t()> value,
                 const sc_core::sc_event* changed = nullptr)
        : wanted_(wanted), value_(std::move(value)), changed_(changed) {}
    bool is_met() override { return wanted_.has(found_ = value_()); }
    std::string found_text() const override {
        return found_ < 10 ? fmt::format("it is {}", found_)
                           : fmt::format("it is {0} ({0:#x})", found_);
    }
    const sc_core::sc_event* changed() const override { return changed_; }

private:
    range wanted_;
    std::function<std::uint64_t()> value_;
    const sc_core::sc_event* changed_;
    std::uint64_t found_ = 0;
};

/// The range of allowed values: from `equals`, or from `at_least` and `at_most`.
range wanted_range(const condition_spec& c, const reader& r, std::uint64_t min) {
    if (c.equals) return {*c.equals, *c.equals};
    const range wanted{c.at_least.value_or(min), c.at_most.value_or(any)};
    if (wanted.min > wanted.max && c.at_most)
        r.node().at("at_most").report(mistake::out_of_range, "'at_most' is less than 'at_least'");
    return wanted;
}

condition number_condition(range wanted, const std::string& noun, const number_finder& begin) {
    return {fmt::format("{} to be {}", noun, wanted.text()), [=](scenario_context& ctx) {
                return std::make_unique<number_watch>(wanted, begin(ctx));
            }};
}

std::vector<std::string> names_of(const json& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map.items()) names.push_back(name);
    return names;
}

std::function<std::uint64_t()> counter_of(scenario_context& ctx, const std::string& module,
                                          const std::string& counter) {
    const auto* publisher =
        dynamic_cast<publishes_statistics*>(sc_core::sc_find_object(module.c_str()));
    if (publisher == nullptr)
        throw step_failure(fmt::format("no module '{}' has counters  {}", module,
                                       suggest(module, names_of(call(ctx, "statistics", {})))));
    return [&ctx, publisher, module, counter] {
        one_counter asked(counter);
        publisher->publish(asked);
        if (asked.found) return *asked.found;
        const auto known = call(ctx, "statistics", {{"module", module}})[module];
        throw step_failure(fmt::format("'{}' has no counter '{}'  {}", module, counter,
                                       suggest(counter, names_of(known))));
    };
}

/// Fails for a name that no module has: it would have no violations.
void check_reporter(const std::string& module) {
    if (sc_core::sc_find_object(module.c_str()) != nullptr) return;
    std::vector<std::string> known;
    for (const auto& entry : misuse::summary()) {
        if (entry.module == module) return;
        known.push_back(entry.module);
    }
    throw step_failure(fmt::format("there is no module '{}'  {}", module, suggest(module, known)));
}

/// A step that was read while the scenario runs could not enable its rule.
void check_enabled(const misuse::rule& rule) {
    if (!misuse::wanted(rule))
        throw step_failure(
            fmt::format("{} {} is not checked: name it in the key 'misuse'", rule.id, rule.name));
}

condition misuse_condition(const condition_spec& c, const reader& r) {
    const auto& name = *c.misuse;
    const auto rule = misuse::find(name);
    if (!rule) {
        r.node().at("misuse").report(mistake::not_a_choice,
                                     fmt::format("there is no misuse rule '{}'", name),
                                     misuse::suggest_rule(name));
        return {};
    }
    const auto wanted = wanted_range(c, r, 0);
    const auto module = c.module.value_or("");
    auto result = number_condition(wanted, "misuse " + name,
                                   [=](scenario_context&) -> std::function<std::uint64_t()> {
                                       check_enabled(*rule);
                                       if (module.empty())
                                           return [=] { return misuse::count(*rule); };
                                       check_reporter(module);
                                       return [=] { return misuse::count(*rule, module); };
                                   });
    result.rules = {{*rule, !wanted.has(0)}};
    return result;
}

register_handle find(const json& named) {
    try {
        return find_register(named);
    } catch (const rpc::error& wrong) {
        throw step_failure(wrong.what());
    }
}

/// Counts writes of a register by software, for example doorbells.
condition written_condition(const condition_spec& c, const reader& r) {
    return number_condition(wanted_range(c, r, 1), "writes of " + *c.written,
                            [named = c.named(*c.written), writer = c.writer](scenario_context&) {
                                const auto count = [use = find(named).use, writer] {
                                    std::uint64_t sum = 0;
                                    const auto all = use();
                                    for (std::size_t kind = 0; kind < all.by_initiator.size();
                                         ++kind)
                                        if (!writer || kind == static_cast<std::size_t>(*writer))
                                            sum += all.by_initiator[kind].writes;
                                    return sum;
                                };
                                return [count, before = count()] { return count() - before; };
                            });
}

// --- Consoles

/// The output of a console that no earlier step has matched.
std::string unread(const console_log::output& output, std::uint64_t begin) {
    const auto first = output.printed - output.tail.size();
    return output.tail.substr(begin > first ? begin - first : 0);
}

/// Bytes of each console's output that steps have matched.
class matched_output {
public:
    explicit matched_output(console_log& consoles) {
        consoles.listen([event = printed_](auto, auto) { event->notify(sc_core::SC_ZERO_TIME); });
    }
    /// Notified when any console prints.
    const sc_core::sc_event& printed() const { return *printed_; }
    /// The number of bytes of the console.
    std::uint64_t& bytes_of(const std::string& console) { return matched_[console]; }

private:
    const std::shared_ptr<sc_core::sc_event> printed_ = std::make_shared<sc_core::sc_event>();
    std::map<std::string, std::uint64_t> matched_;
};

matched_output& matched_output_of(scenario_context& ctx) {
    return ctx.kept.get<matched_output>(ctx.control.consoles());
}

class text_watch final : public watch {
public:
    text_watch(scenario_context& ctx, const std::string& module, wanted_text wanted)
        : context_(ctx), wanted_(std::move(wanted)), changed_(matched_output_of(ctx).printed()) {
        const auto& consoles = ctx.control.consoles();
        const auto name =
            !module.empty() || consoles.all().empty() ? module : consoles.all().begin()->first;
        output_ = consoles.find(name);
        if (output_ == nullptr)
            throw step_failure(
                fmt::format("there is no console '{}'  {}", name, suggest(name, known(consoles))));
        from_ = &matched_output_of(ctx).bytes_of(name);
    }
    bool is_met() override {
        const auto text = unread(*output_, *from_);
        const auto end = wanted_.find(text, context_);
        if (end) *from_ = output_->printed - text.size() + *end;
        return end.has_value();
    }
    std::string found_text() const override {
        const auto text = unread(*output_, *from_);
        return fmt::format("text not printed; unread output: ...{}",
                           text.substr(text.size() > 200 ? text.size() - 200 : 0));
    }
    const sc_core::sc_event* changed() const override { return &changed_; }

private:
    static std::vector<std::string> known(const console_log& consoles) {
        std::vector<std::string> names;
        for (const auto& [name, _] : consoles.all()) names.push_back(name);
        return names;
    }
    scenario_context& context_;
    wanted_text wanted_;
    const sc_core::sc_event& changed_;
    const console_log::output* output_;
    std::uint64_t* from_;
};

// --- Firmware

condition reached_condition(const condition_spec& c, const reader& r) {
    const auto& function = *c.reached;
    return {
        .text = fmt::format("{} of {} to be reached", function, c.hart),
        .begin = [function, hart = c.hart, wanted = wanted_range(c, r, 1)](
                     scenario_context& ctx) { return watch_function(ctx, hart, function, wanted); },
        .check = [function,
                  hart = c.hart](scenario_context& ctx) { check_function(ctx, hart, function); }};
}

condition condition_of(const condition_spec& c, const reader& r) {
    if (c.register_name)
        return number_condition(wanted_range(c, r, 0), *c.register_name, number_at(c));
    if (c.written) return written_condition(c, r);
    if (c.misuse) return misuse_condition(c, r);
    if (c.printed)
        return text_condition(c.module.value_or(""),
                              wanted_text_of(r, "printed", *c.printed, c.captures));
    if (c.matches)
        return text_condition(c.module.value_or(""),
                              wanted_text_of(r, "matches", *c.matches, c.captures));
    if (c.reached) return reached_condition(c, r);
    return number_condition(wanted_range(c, r, 0),
                            fmt::format("{} of {}", c.counter.value_or(""), c.module.value_or("")),
                            number_at(c));
}

}  // namespace

void condition_spec::finish(const reader& r) {
    if (reached && !r.has("hart")) r.node().at("hart");
    // Every number is at least 0: without a bound the condition is always true.
    if ((counter || register_name || misuse) && !equals && !at_least && !at_most)
        r.node().at("equals");
    if (within.value == 0) r.refuse({"every"}, "'every' has no effect without 'within'");
    if (every.value == 0)
        r.node().at("every").report(mistake::out_of_range, "time has to pass between two looks");
    made = condition_of(*this, r);
    made.limit = {within.value, every.value};
}

keys<condition_spec> condition_keys() {
    using c = condition_spec;
    using names = std::vector<std::string_view>;
    const names others{"register", "written", "misuse", "printed", "matches", "reached"};
    const names numbers{"counter", "register", "written", "misuse", "reached"};
    return keys<c>{
        key("counter", &c::counter, "in the module's statistics").required_without(others),
        key("module", &c::module,
            "that has the counter, breaks the rule (all) or prints (the first console)")
            .required_without(others)
            .only_with({"counter", "misuse", "printed", "matches"}),
        key("misuse", &c::misuse, "violations of this rule, by id or name"),
        key("register", &c::register_name, "its name, or that of a field"),
        key("index", &c::index, "of an element of a register array")
            .only_with({"register", "written"}),
        key("instance", &c::instance, "of a register that a module has several times")
            .only_with({"register", "written"}),
        key("written", &c::written, "writes of this register since the step began"),
        key("by", &c::writer, "whose writes are counted; all unless given").only_with({"written"}),
        key("printed", &c::printed, "text on a console after the previous match"),
        key("matches", &c::matches, "the same as a regular expression"),
        key("as", &c::captures, "names for the matches of its groups").only_with({"matches"}),
        key("reached", &c::reached, "calls of this firmware function since the step began"),
        key("hart", &c::hart, "that calls it; required with `reached`").only_with({"reached"}),
        key("equals", &c::equals, "the number")
            .only_with(numbers)
            .not_with({"at_least", "at_most"}),
        key("at_least", &c::at_least, "bound; 1 for `written` and `reached` unless given")
            .only_with(numbers)
            .not_with({"equals"}),
        key("at_most", &c::at_most, "bound of the number").only_with(numbers).not_with({"equals"}),
        key("within", &c::within, "simulated time until the condition is true; of `wait` 1 s"),
        key("every", &c::every, "simulated time between looks")
            .only_with({"counter", "register", "written", "misuse"})}
        .one_of({"counter", "register", "written", "misuse", "printed", "matches", "reached"});
}

condition read_condition(const reader& r, nanoseconds within) {
    condition_spec spec;
    spec.within = within;
    read_keys(condition_keys(), r, spec);
    return spec.made;
}

number_finder number_at(const number_source& source) {
    if (source.register_name)
        return [named = source.named(*source.register_name)](scenario_context&) {
            return find(named).value;
        };
    return [module = source.module.value_or(""), counter = source.counter.value_or("")](
               scenario_context& ctx) { return counter_of(ctx, module, counter); };
}

condition text_condition(const std::string& module, const wanted_text& wanted) {
    return {fmt::format("'{}' on the UART", wanted.text), [=](scenario_context& ctx) {
                return std::make_unique<text_watch>(ctx, module, wanted);
            }};
}

void await(scenario_context& ctx, const condition& awaited) {
    const auto observed = awaited.begin(ctx);
    if (ctx.waits.wait_for(awaited.limit, *observed, awaited.text)) return;
    if (awaited.limit.within == 0) throw step_failure(observed->found_text());
    throw step_failure(fmt::format("waited {}: {}", to_string(nanoseconds{awaited.limit.within}),
                                   observed->found_text()));
}

}  // namespace trn::scenario
