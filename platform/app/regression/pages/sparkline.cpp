// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/sparkline.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/app/scenario/results/report.h"

namespace trn::regression {

std::string result_strip(const std::vector<past_result>& runs) {
    constexpr int width = 5, height = 14;
    if (runs.empty()) return {};
    std::string out =
        fmt::format("<svg class=\"strip\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">",
                    width * runs.size(), height);
    std::size_t column = 0;
    for (const auto& run : runs)
        out += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}, {}: {}, "
            "{:.2f} s</title></rect>",
            run.passed ? "good" : "bad", width * column++, run.passed ? height / 2 : 0, width - 1,
            run.passed ? height / 2 : height, time_text(run.started), scenario::escaped(run.build),
            run.passed ? "passed" : "failed", run.wall_s);
    return out + "</svg>";
}

std::string sparkline(const std::vector<double>& values, const std::string& title) {
    constexpr double width = 90, height = 18, margin = 3;
    if (values.size() < 2) return {};
    const auto [low, high] = std::ranges::minmax(values);
    const auto x = [&](std::size_t i) {
        return margin + (width - 2 * margin) * static_cast<double>(i) /
                            static_cast<double>(values.size() - 1);
    };
    const auto y = [&](double value) {
        return high == low ? height / 2
                           : height - margin - (height - 2 * margin) * (value - low) / (high - low);
    };
    std::string out = fmt::format(
        "<svg class=\"spark\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"><title>{2}: "
        "{3:.6g} to {4:.6g} in {5} runs</title><polyline points=\"",
        width, height, scenario::escaped(title), low, high, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        out += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", x(i), y(values[i]));
    return out +
           fmt::format("\"/><circle class=\"now\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/></svg>",
                       x(values.size() - 1), y(values.back()));
}

}  // namespace trn::regression
