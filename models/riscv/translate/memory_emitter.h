// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/translate/register_emitter.h"
#include "models/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

/// Emits loads and stores. An access within the data window is a comparison and the access; in
/// another page that the hart's table has, a look-up; all others leave to the executor.
class memory_emitter {
public:
    /// `checked`: stores are noted there.
    memory_emitter(register_emitter& registers, outcome* checked)
        : r_(registers), a_(registers.a), checked_(checked) {}

    struct access_kind {
        unsigned size = 0;
        bool is_store = false, is_signed = false;
    };
    /// Size 0: the instruction is neither a load nor a store that this emits.
    static access_kind kind_of(const decoded& d);

    /// First, for both parts below: the operands.
    void prepare(const decoded& d, const access_kind& k);
    /// The part in line: continues at `outside` when the window does not hold the address.
    void emit(const decoded& d, const access_kind& k, const asmjit::Label& outside);
    /// The rest: to `inside` after the access, to `leaves` when the executor must do it.
    void emit_outside(const decoded& d, const access_kind& k, const asmjit::Label& outside,
                      const asmjit::Label& inside, const asmjit::Label& leaves);

private:
    void load(const decoded& d, const access_kind& k, x86::Mem from);
    void store(const decoded& d, const access_kind& k, x86::Mem to);

    register_emitter& r_;
    x86::Assembler& a_;
    outcome* const checked_;
};

}  // namespace trn::riscv::translate
