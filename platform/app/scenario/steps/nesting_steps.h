// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/results/figure.h"

// Steps that contain steps: their keys and what they do. files/scenario_files.h reads the steps
// inside them.

namespace trn::scenario {

/// sequence, together, figure.
std::vector<step_kind> nesting_steps();

struct sequence_call {
    std::string name = {};
};
keys<sequence_call> sequence_keys();

/// Sets the work of `together`: branches that start at the same time. The step ends when all have
/// ended.
void plan_branches(step& whole, std::vector<std::vector<step>> branches);

/// A `figure`: the simulated time of steps, the rate at which they move `bytes`, a counter, a
/// register, or a captured value.
struct figure_spec : number_source {
    std::string name = {}, unit = {};
    std::optional<bytes> size = {};
    std::optional<double> value = {};

    figure wanted = {};
    bool is_timed = false;  ///< of steps: `time_of`
    void finish(const reader& r);
};
keys<figure_spec> figure_keys();

/// Sets the work of `whole`, which has its place. `parts`: the steps of `time_of`.
void plan_figure(step& whole, const figure_spec& spec, std::vector<step> parts);

/// Adds the rules of inner steps to the step that contains them.
void add_rules_of(const std::vector<step>& parts, step& whole);

}  // namespace trn::scenario
