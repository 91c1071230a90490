# SPDX-License-Identifier: Apache-2.0
"""RDMA writes HBM of one chip to that of another, then a semaphore for which a core of the target
waits.

write_hbm.py target SET    on the target's server; SET is semaphore.trn of this folder, assembled
write_hbm.py ADDRESS       on the initiator's server; ADDRESS is that of the target's server in an
Ethernet
"""
import hashlib
import json
import os
import socket
import subprocess
import sys
import time

import pyverbs.enums as e
from neuron_memory import Device
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, DmaBufMR
from pyverbs.pd import PD
from pyverbs.wr import SGE
from queue_pairs import QKEY, queue_pair

SIZE, STACK, CORE, PORT = 1 << 20, 1, 3, 18515
WRITTEN, STARTED = 200, 201  # semaphores of the program
INCREMENT = 0x1800  # offset of their increment window: adds the value written (device contract 3.3)

socket.setdefaulttimeout(120)  # seconds: the other guest may have failed
context = Context(name="efa_0")
domain = PD(context)
queue = CQ(context, 64)
pair = queue_pair(context, queue, domain, e.IBV_QPT_DRIVER, e.IBV_QP_EX_WITH_RDMA_WRITE)
device = Device()
hbm = device.allocate(SIZE, STACK)
every = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_WRITE


def registered(memory):
    return DmaBufMR(domain, memory.size, every, dmabuf=memory.export())


def address_handle(gid):
    return AH(domain, attr=AHAttr(gr=GlobalRoute(dgid=GID(gid), sgid_index=0), is_global=1, port_num=1))


def exchange(peer, **mine):
    print(json.dumps(mine), file=peer, flush=True)
    return json.loads(peer.readline())


def connected(address):
    while True:
        try:
            return socket.create_connection((address, PORT)).makefile("rw")
        except OSError:
            time.sleep(0.2)


def target(program):
    region, window = registered(hbm), registered(device.semaphores(CORE))
    with socket.create_server(("", PORT)) as server:
        peer = server.accept()[0].makefile("rw")
    other = exchange(peer, gid=str(context.query_gid(1, 0)), pair=pair.qp_num, hbm=region.rkey, semaphores=window.rkey)
    known = address_handle(other["gid"])  # noqa: F841  kept: the card refuses RDMA of unknown peers
    core = subprocess.Popen(["trn-guest", "program", "--via", "neuron", str(CORE), program])
    while device.semaphore(CORE, STARTED) == 0:
        assert core.poll() is None, "the program has not started"
    print("semaphore before:", device.semaphore(CORE, WRITTEN))
    exchange(peer)
    assert core.wait() == 0, "the program has failed"
    print("semaphore after:", device.semaphore(CORE, WRITTEN))
    assert hashlib.sha256(hbm.mapping).hexdigest() == other["digest"], "HBM has other bytes"
    print("HBM: as written")
    exchange(peer)


def write(peer):
    hbm.mapping[:] = os.urandom(SIZE)
    region, one = registered(hbm), MR(domain, 4, every)
    one.write((1).to_bytes(4, "little"), 4)
    other = exchange(peer, gid=str(context.query_gid(1, 0)), digest=hashlib.sha256(hbm.mapping).hexdigest())
    card = address_handle(other["gid"])

    def post(key, address, source):
        pair.wr_start()
        pair.wr_flags = e.IBV_SEND_SIGNALED
        pair.wr_rdma_write(key, address)
        pair.wr_set_sge(source)
        pair.wr_set_ud_addr(card, other["pair"], QKEY)
        pair.wr_complete()
        found = []
        while not found:
            found = queue.poll()[1]
        assert found[0].status == e.IBV_WC_SUCCESS, e.ibv_wc_status(found[0].status).name

    exchange(peer)  # the program has started
    post(other["hbm"], 0, SGE(0, SIZE, region.lkey))
    post(other["semaphores"], INCREMENT + 4 * WRITTEN, SGE(one.buf, 4, one.lkey))
    print("written by RDMA from HBM:", SIZE)
    exchange(peer)  # the target has compared


if sys.argv[1] == "target":
    target(sys.argv[2])
else:
    write(connected(sys.argv[1]))
context.close()
