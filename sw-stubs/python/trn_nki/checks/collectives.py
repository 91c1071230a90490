# SPDX-License-Identifier: Apache-2.0
"""Rules of collectives: whole tensors in HBM, one group of all ranks."""
from __future__ import annotations

from trn_nki.checks import operands
from trn_nki.checks.call import Call, Recorded
from trn_nki.diagnostics.errors import KernelError
from trn_nki.values import data_types, operators

TYPES = (data_types.float32, data_types.bfloat16, data_types.float16)


def ranks_of(group: object) -> int:
    """Number of ranks of a ReplicaGroup. Raises KernelError unless it is one list of all ranks, in order."""
    lists = [list(ranks) for ranks in getattr(group, "groups", None) or ()]
    if len(lists) != 1 or len(lists[0]) < 2 or lists[0] != list(range(len(lists[0]))):
        raise KernelError("nki.collectives: the replica group must be one list of all ranks, [[0, 1, ...]]", "15.4")
    return len(lists[0])


def _collective(call: Call) -> None:
    ranks = ranks_of(call.arguments["replica_group"])
    name_of = f"nki.collectives.{call.operation}"
    dst, src = operands.tensor(call, "dst"), operands.tensor(call, "src")
    for name, tensor in (("srcs", src), ("dsts", dst)):
        if tensor.is_on_chip or tensor.offset != 0 or tuple(tensor.shape) != tuple(tensor.storage.shape):
            raise KernelError(f"{name_of}: {name} has {tensor!r}; a collective takes whole tensors in HBM", "15.4")
    if dst.storage is src.storage or dst.dtype != src.dtype or dst.dtype not in TYPES:
        raise KernelError(f"{name_of}: from {src!r} to {dst!r}; it takes two tensors of type float32, bfloat16 or float16", "15.4")
    if call.arguments.get("collective_dim", 0) != 0:
        raise KernelError(f"{name_of}: collective_dim must be 0", "15.4")
    sizes = {"all_reduce": (1, 1), "all_gather": (1, ranks), "reduce_scatter": (ranks, 1)}[call.operation]
    if src.size * sizes[1] != dst.size * sizes[0]:
        raise KernelError(f"{name_of}: from {src!r} to {dst!r}; {sizes[0]} : {sizes[1]} are their sizes over {ranks} ranks", "15.4")
    if "op" in call.arguments:
        operands.operator(call, "op", operators.add, operators.minimum, operators.maximum)


COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")
RULES = {name: _collective for name in COLLECTIVES}


def refusal(instruction: Recorded, reason: str) -> KernelError:
    """The error for a recorded collective where one chip computes alone."""
    ranks = ranks_of(instruction.arguments["replica_group"])
    return KernelError(
        f"nki.collectives.{instruction.operation} {reason}; the step `kernel` of a scenario with `chips: {ranks}` runs it "
        '(doc/nki-running.md, "Kernels over several chips")',
        "15.4",
        instruction.place,
    )
