// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/translate/guest_registers.h"
#include "models/processor/riscv/translate/shared_code.h"

namespace trn::riscv::translate {

/// Emits loads and stores. Inside the data window an access is a comparison and the access, beside
/// watched bytes two comparisons; for other pages in the hart's TLB, and for pages that are watched
/// in part, it is a look-up; otherwise the code leaves to the executor.
class memory_emitter {
public:
    /// `checked`: stores are recorded there; null: they are not.
    memory_emitter(guest_registers& registers, const shared_code& shared, outcome* checked)
        : r_(registers), a_(registers.a), shared_(shared), checked_(checked) {}

    struct access_kind {
        unsigned size = 0;
        bool is_store = false, is_signed = false;
    };
    /// Size 0: not a load or store that this class emits.
    static access_kind kind_of(const decoded& d);

    /// Prepares the operands for both parts below; call first.
    void prepare(const decoded& d, const access_kind& k);
    /// The inline part: jumps to `outside` if the address is outside the window.
    void emit(const decoded& d, const access_kind& k, const asmjit::Label& outside);
    /// The out-of-line part: jumps to `inside` after the access. Code that follows leaves to the
    /// executor, which must do it otherwise.
    void emit_outside(const decoded& d, const access_kind& k, const asmjit::Label& outside,
                      const asmjit::Label& inside);

private:
    void look_beside(const asmjit::Label& known);
    void load(const decoded& d, const access_kind& k, x86::Mem source);
    void store(const decoded& d, const access_kind& k, x86::Mem target);
    void store_and_record(const decoded& d, const access_kind& k, const x86::Mem& target);
    void load_part(const x86::Gp& dst, const x86::Mem& source);

    guest_registers& r_;
    x86::Assembler& a_;
    const shared_code& shared_;
    outcome* const checked_;
};

}  // namespace trn::riscv::translate
