// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

namespace trn {

/// Power and temperature of a chip at its last conversion, for its sled controller.
class power_interface : public virtual sc_core::sc_interface {
public:
    virtual std::uint64_t milliwatts() const = 0;
    virtual std::int32_t hottest_millidegrees() const = 0;  ///< thousandths of a degree Celsius
    /// Called with the annotated delay of the access that shows the conversion.
    using conversion_callback = std::function<void(const sc_core::sc_time& delay)>;
    /// Calls `done` after each conversion.
    virtual void on_conversion(conversion_callback done) = 0;
};

}  // namespace trn
