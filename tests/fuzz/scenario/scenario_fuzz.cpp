// SPDX-License-Identifier: Apache-2.0
// Arbitrary scenarios are accepted, or refused with line numbers; accepted ones can be selected and
// reported.
#include <nlohmann/json.hpp>
#include <systemc>

#include "models/misuse_rules.h"
#include "platform/app/regression/pages/html_report.h"
#include "platform/app/regression/pages/junit.h"
#include "platform/app/scenario/files/load.h"
#include "platform/app/scenario/language/scenario.h"
#include "platform/app/scenario/results/report.h"
#include "platform/app/scenario/selection/selection.h"
#include "platform/framework/misuse/allowance_text.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/fuzz_yaml.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

const std::vector<std::string> seeds{
    "scenario: x\nboard: b\nsteps: []\n",
    "scenario: x\nboard: b\nmatrix: {a: [1, 2], b: [3]}\nsteps:\n  - wait: ${a} us\n",
    "scenario: x\nboard: b\nsequences: {s: {steps: [{sequence: {name: s}}]}}\nsteps:\n"
    "  - sequence: {name: s}\n",
    "scenario: x\nboard: b\nsteps:\n  - expect_uart: {matches: '((a|b)*c){3}', as: [v]}\n"
    "  - figure: {name: f, value: '${v}', at_least: 1, at_most: 2}\n",
    "scenario: x\nboard: b\nmisuse:\n  policy: fail\n  allow:\n"
    "    - {rule: TRN-DMA-004, at: 'chip*.udma*', function: f, line: 'f.c:1', from: 1 us,\n"
    "       until: 2 us, count: 3, reason: r}\nsteps:\n"
    "  - expect: {misuse: tile-race, equals: 0}\n"};

const std::vector<std::string> words{"scenario: ",
                                     "steps:\n",
                                     "  - wait: 10 us\n",
                                     "  - boot: {}\n",
                                     "  - sequence: {name: cut, with: {cable: wire0}}\n",
                                     "  - together: {a: [wait: 1 us], b: []}\n",
                                     "  - snapshot: s\n",
                                     "  - restore: s\n",
                                     "time_of: ",
                                     "bytes: 0 B",
                                     "size: 36 GiB",
                                     "size: 0 B",
                                     "descriptor: 0 B",
                                     "memory_limit: 1 B",
                                     "time_limit: 0 s",
                                     "matrix: {a: [1, 2, 3], b: [1, 2, 3]}\n",
                                     "include: [scenario.yaml]\n",
                                     "matches: '((((((((((a*)*)*)*)*)*)*)*)*)*'",
                                     "matches: '(a{1000}){1000}'",
                                     "misuse: {allow: [{rule: TRN-FW-001, reason: r}]}\n",
                                     "count: 18446744073709551615",
                                     "until: 18446744 s",
                                     "line: 'a:b:0'",
                                     "rule: first-bit-error",
                                     "as: [a, b]",
                                     "\"\\e]0;x\\a\"",
                                     "hbm4294967295@18446744073709551615",
                                     "host",
                                     "axi@0xffffffffffffffff",
                                     "${a}",
                                     "''",
                                     "nan",
                                     "1e999"};

/// The command line takes what a file allows.
void check_allowances(const scenario::scenario& one) {
    for (const auto& allowance : one.misuse.allowances) {
        const auto text = allowance.text();
        if (misuse::parse_allowance(text, "fuzz").text() != text) std::abort();
        misuse::is_at(allowance.modules, "chip0.udma3");
        allowance.covers_place("serve (firmware/mgmt/mailbox.c:220)");
    }
}

/// Reports accepted scenarios; these must not contain errors.
void report(std::vector<scenario::scenario> all, const std::string& text) noexcept {
    if (all.size() > 20) all.resize(20);
    all = scenario::select(std::move(all), {.repeat = 2, .shuffle = 1});
    regression::run_record run;
    for (const auto& one : all) {
        check_allowances(one);
        run.results.push_back(regression::described(one, run.results.size(), ""));
        auto& how = run.results.back().outcome;
        if (!one.mistakes.empty()) how = scenario::refused(one);
        how.log += text.substr(0, 1000);
        how.message += text.substr(0, 1000);
        if (one.steps.empty()) continue;
        how.timeline = {{one.steps[0].text, 1, 0}};
        how.step = one.steps[0].text;
        for (const char c : scenario::to_text(one, how))
            if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') std::abort();
    }
    regression::to_junit(run);
    regression::to_html(run);
}

void read(const std::filesystem::path& file, const std::string& text) {
    test::write_text(file, text);
    report(scenario::load(file), text);
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    const test::scratch_folder folder;
    const std::filesystem::path file = folder / "scenario.yaml";
    return test::fuzz_yaml(argc, argv, {seeds, {"scenarios"}, ".yaml", words},
                           [&](const std::string& text) { read(file, text); });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
