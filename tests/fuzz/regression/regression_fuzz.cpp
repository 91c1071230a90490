// SPDX-License-Identifier: Apache-2.0
// Damaged records, durations and histories: they are accepted or refused with a message, and every
// report can be written from accepted ones.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <systemc>
#include <vector>

#include "platform/app/regression/comparison/compare.h"
#include "platform/app/regression/comparison/merge.h"
#include "platform/app/regression/history/durations.h"
#include "platform/app/regression/history/history.h"
#include "platform/app/regression/pages/html_report.h"
#include "platform/app/regression/pages/junit.h"
#include "platform/app/regression/pages/merged_fidelity.h"
#include "platform/app/regression/records/annotations.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/framework/config/file.h"
#include "tests/support/fuzz.h"
#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

namespace fs = std::filesystem;

/// Two results, one of them failed, with all optional fields of a record.
std::string record_text() {
    regression::run_record run{.build = "1", .started = 1000, .machine = "m"};
    run.boards["chip"] = {"00ff", "<svg></svg>"};
    for (const auto* name : {"good", "bad"}) {
        auto& one = run.results.emplace_back();
        one.description.file = "x.yaml";
        one.description.name = name;
        one.description.board = one.board_key = "chip";
        one.number = run.whole.size();
        one.outcome.result = run.whole.empty() ? scenario::outcome::verdict::passed
                                               : scenario::outcome::verdict::failed;
        one.outcome.timeline = {{"boot", 3, 0}, {"s: copy", 4, 100, {{"s", 9}}}};
        one.outcome.figures = {{"rate", 57.25, "GB/s", 50.0, {}}};
        one.outcome.trace_digest = 1;
        one.fidelity = {{"board", "chip"}, {"registers", nlohmann::json::array()}};
        run.whole.push_back(regression::run_identity(one.description));
    }
    run.coverage = "TN:\nSF:a.c\nFN:1,f\nFNDA:1,f\nBRDA:2,0,0,-\nDA:2,1\nend_of_record\n";
    return to_text(run);
}

const std::string durations_text =
    "{\"trnvp durations\": 1, \"scenarios\": {\"x.yaml\": {\"good\": {\"beginning_s\": 1, "
    "\"own_s\": 2}}}}\n";
const std::string history_text =
    "{\"trnvp history\": 1, \"started\": 5, \"build\": \"1\", \"scenarios\": {\"x.yaml\\tgood\": "
    "{\"passed\": true, \"wall_s\": 1, \"figures\": {\"rate\": 5}, \"digest\": \"1\", "
    "\"fingerprint\": \"2\"}}}\n";
const std::vector<std::string> words{"null",
                                     "-1",
                                     "1e308",
                                     "18446744073709551615",
                                     "[]",
                                     "{}",
                                     "\"\"",
                                     "\n",
                                     "true",
                                     ",",
                                     "}\n{",
                                     "[[[[[[",
                                     "\\ud800",
                                     "\"end\":",
                                     "\"n\":0",
                                     "<script>",
                                     "\\n",
                                     ":",
                                     "1e999",
                                     "\"status\":\"passed\"",
                                     "\"shard\":[1,2]"};

void read(const fs::path& folder, const std::string& text) {
    for (const auto* name : {"run.jsonl", "durations.json", "past.json"})
        test::write_text(folder / name, text);
    const auto past = regression::history::read(folder);
    try {
        regression::durations::read(folder / "durations.json").text();
    } catch (const file_error&) {
    }
    try {
        const auto run = regression::merge({folder}).run;
        regression::to_junit(run);
        regression::to_html(run, past);
        regression::to_github(run);
        regression::to_gitlab(run);
        regression::compare(run, run, {}).text();
        regression::merged_fidelity(run);
    } catch (const file_error&) {
    }
}

}  // namespace
}  // namespace trn

int sc_main(int argc, char** argv) {
    const trn::test::scratch_folder folder;
    const trn::test::mutator inputs(
        {trn::record_text(), trn::record_text(), trn::durations_text, trn::history_text},
        trn::words);
    return trn::test::fuzz(argc, argv,
                           [&](auto& random) { trn::read(folder, inputs.make(random)); });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
