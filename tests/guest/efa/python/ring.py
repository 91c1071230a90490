# SPDX-License-Identifier: Apache-2.0
"""MPI ranks pass messages around a ring, below and above libfabric's copy limit, and sum numbers.
"""
from mpi4py import MPI

ranks = MPI.COMM_WORLD
own, count = ranks.rank, ranks.size


def data(rank, size):
    return bytearray((rank * 7 + at) % 251 for at in range(size))


for size in (8, 4096, 65536, 1 << 20):
    received = bytearray(size)
    ranks.Sendrecv(data(own, size), (own + 1) % count, 0, received, (own - 1) % count)
    assert received == data((own - 1) % count, size), f"{size} bytes came with an error"
print(f"rank {own} of {count} on {MPI.Get_processor_name()}: sum {ranks.allreduce(own + 1)}", flush=True)
