#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# installed_test.sh CMAKE BUILD CC BINDIR LIBDIR: installs the build into a folder with a space in its name, and uses it from an empty folder,
# without variables of the environment: a board, a scenario, a kernel, and a program that is compiled with the driver stub.
set -eu
cmake=$1 build=$2 cc=$3 bin=$4 lib=$5
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
prefix="$scratch/the prefix"
platform=
trap 'kill $platform 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
failed() { echo "line ${BASH_LINENO[0]}: $*"; cat "$scratch/said"; exit 1; }
run() { # STATUS COMMAND...: its output is in `said`
    local status=0 expected=$1
    env -i HOME="$scratch" PATH="$prefix/$bin:/usr/bin:/bin" PKG_CONFIG_PATH="$prefix/$lib/pkgconfig" "${@:2}" \
        >"$scratch/said" 2>&1 || status=$?
    [ "$status" = "$expected" ] || failed "${*:2}: status $status instead of $expected"
}
says() { grep -qF -- "$1" "$scratch/said" || failed "does not say: $1"; }

"$cmake" --install "$build" --prefix "$prefix" >"$scratch/said" || failed "not installed"
mkdir "$scratch/empty"
cd "$scratch/empty"

run 0 trnvp run trn3-chip --until ready
says 'ready: routing id 0'
run 0 trnctl --board trn3-chip copy host hbm0@16MiB 64KiB --verify
run 0 trnvp test "$prefix/share/trnvp/scenarios/mailbox.yaml"
says '1 passed, 0 failed'
run 0 trnvp report --help
run 0 env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "import numpy; numpy.save('x.npy', numpy.ones((128, 64), numpy.float32))"
run 0 env PYTHONDONTWRITEBYTECODE=1 trn-nki run "$prefix/share/trnvp/scenarios/kernels/tiles.py:softmax" --in x=x.npy --check simulate
# Python: as a package of the distribution, and in pytest, which finds the plug-in.
cat >use_board.py <<'END'
import site, sys
site.addsitedir(sys.argv[1])
import trnvp
with trnvp.start("trn3-chip") as board:
    board.copy(b"some bytes", "hbm0@16MiB")
    print("data", board.copy("hbm0@16MiB", "host", 10).data, "of", trnvp.programs.folder())
END
run 0 env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 use_board.py "$prefix/lib/python3/dist-packages"
says "data b'some bytes' of $prefix/$bin"
echo 'def test_board(board): assert board.run("1 ms").reason == "time_limit"' >test_board.py
run 0 env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$prefix/share/trnvp/python" /usr/bin/python3 -m pytest -p no:cacheprovider test_board.py
says '1 passed'

# Manual pages and completions.
for page in trnvp trnvp-run trnvp-test trnctl-copy trn-asm trn-ls trn-top trn-monitor trn-nki-run; do
    [ -s "$prefix/share/man/man1/$page.1.gz" ] || failed "no manual page $page"
done
for file in bash-completion/completions/trnctl zsh/vendor-completions/_trnvp fish/vendor_completions.d/trn-nki.fish; do
    [ -s "$prefix/share/$file" ] || failed "no $file"
done

[ -z "$(find "$prefix/share" -name __pycache__ -o -name objects)" ] || failed 'build files are installed'

# A project with find_package(trnvp), found by PATH.
run 0 "$cmake" -G Ninja -S "$here/consumer" -B consumer -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0
run 0 "$cmake" --build consumer
run 0 consumer/own_block "$here/consumer/own.yaml" trn3-chip  # which is in the prefix, as its firmware is
says ': 2 + 40 is 42'

# A block in a library outside the tree: its firmware, board and scenario.
cp -r "$here/../../../doc/examples/own_block" block
run 0 "$cmake" -G Ninja -S block -B block/build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0
run 0 "$cmake" --build block/build
run 0 trnvp inspect scaler --kinds block/build/libscaler.so
says 'time_per_word'
cd block/build
run 0 ctest --output-on-failure
cd ../..
says '100% tests passed'
run 0 trnvp inspect scaler --kinds block/build/libscaler.so --markdown
says '| `time_per_word` | time, 0 ps to 1000 s, default 1 ns | of the multiplier |'
run 0 trn-generate-registers block/scaler.regs.yaml --docs pages
grep -q FACTOR pages/scaler.md || failed 'no register chapter'
sed 's/trnvp-0[.]2[.]0-/trnvp-0.1.9-/' block/build/libscaler.so >block/other.so
run 2 trnvp inspect scaler --kinds block/other.so
says 'build it again'

# The block of the guide, from the files that its page shows.
mkdir ones
python3 - "$here/../../../doc/guide-model.md" ones <<'END'
import pathlib, re, sys
for name, text in re.findall(r"^```\w+ (\S+) not run: the test `installed`.*\n((?s:.*?))^```$", pathlib.Path(sys.argv[1]).read_text(), re.M):
    (pathlib.Path(sys.argv[2]) / name).write_text(text)
END
cp block/start.S block/driver.ld ones
cd ones
run 0 "$cmake" -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0
run 0 "$cmake" --build build
cd build
run 0 trnvp contract ones --kinds libones.so
says ', contract kept'
run 0 trnvp test scenario.yaml
says '1 passed, 0 failed'
sed -i 's/RESULT, offset: 0xc, access: ro/RESULT, offset: 0xc, access: rw/; /name: STATUS/,$ s/0x10/0x14/' ../ones.regs.yaml
run 1 trnvp contract ones --kinds libones.so --registers ../ones.regs.yaml
says 'ones.RESULT at 0xc, a write of 0xffffffff over 0x0: TLM_COMMAND_ERROR_RESPONSE instead of TLM_OK_RESPONSE'
says 'ones.STATUS at 0x14, '
cd ../..

# Headers of another build do not link.
mkdir other_abi
sed 's/_abi_0_2_0_/_abi_0_1_9_/' "$prefix/include/trnvp/trnvp_abi.h" >other_abi/trnvp_abi.h
printf '#include "platform/embedding/abi.h"\nint main() { return *trn::abi_of_headers == 0; }\n' >abi.cpp
run 0 c++ -std=c++20 abi.cpp "-I$prefix/include/trnvp" "$prefix/$lib/libtrnvp.a" -o abi
run 1 c++ -std=c++20 abi.cpp -Iother_abi "-I$prefix/include/trnvp" "$prefix/$lib/libtrnvp.a" -o abi
says 'trnvp_abi_0_1_9_'

# RTL in the place of a model.
if command -v verilator >/dev/null; then
    cp -r "$here/../../../doc/examples/rtl_uart" rtl
    run 0 "$cmake" -G Ninja -S rtl -B rtl/build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0
    run 0 "$cmake" --build rtl/build
    run 0 trnvp inspect rtl_uart --kinds rtl/build/librtl_uart.so
    says 'cycles until a handshake is given up'
    cd rtl/build
    run 0 trnvp test scenario.yaml
    cd ../..
    says '1 passed, 0 failed'
else
    echo 'without doc/examples/rtl_uart: verilator is not installed'
fi
# A machine inside of other processes: a C program, and Python.
example="$prefix/share/doc/trnvp/examples/library"
run 0 sh -c "eval \"$cc -std=gnu11 -Wall -Werror '$example/bench.c' \$(pkg-config --cflags --libs trnvp) -Wl,-rpath,'$prefix/$lib' -o bench\""
for program in ./bench consumer/bench; do
    run 0 $program "$example/board.yaml"
    says 'copies: as sent'
    says 'interrupts: 1'
    says 'SystemC elaborates once in a process'
done
cat >use_machine.py <<'END'
import site, sys
site.addsitedir(sys.argv[1])
import trnvp
with trnvp.Machine("trn3-chip") as machine:
    print(trnvp.library.load()._name, machine.peek("chip0.udma0.M2S_PREFETCH_CFG_3"))
END
run 0 env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 use_machine.py "$prefix/lib/python3/dist-packages"
says "$prefix/$lib/libtrnvp.so.0"
# With kinds of a library of one's own.
cat >use_kinds.py <<'END'
import os, site, sys
site.addsitedir(sys.argv[1])
import trnvp
os.chdir("block/build")
print([name for name in trnvp.Machine("board.yaml", ready=False).modules() if name == "scaler"])
END
run 0 env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 use_kinds.py "$prefix/lib/python3/dist-packages"
says "['scaler']"

# Without the library.
mv "$prefix/$lib/libtrnvp.a" .
run 1 "$cmake" -G Ninja -S "$here/consumer" -B without
says 'libtrnvp-platform-dev'

# Headers of another version do not link.
cp -r "$prefix/include/trnvp" headers
sed -i 's/abi_0_2/abi_0_1/' headers/vfio_user/trn_driver_abi.h
run 1 sh -c "eval \"$cc '$here/copies.c' -Iheaders \$(pkg-config --libs trnvp-driver) -o stale\""
says 'trn_driver_abi_0_1'

# A host program over the vfio-user socket.
run 0 sh -c "eval \"$cc -std=c11 -Wall -Werror '$here/copies.c' \$(pkg-config --cflags --libs trnvp-driver) -o copies\""
env -i PATH="$prefix/$bin" trnvp run trn3-chip --listen "$scratch/sockets" >"$scratch/platform" 2>&1 &
platform=$!
for _ in $(seq 300); do [ -S "$scratch/sockets/chip0.sock" ] && break; sleep 0.1; done
for program in ./copies consumer/copies; do
    run 0 $program "$scratch/sockets/chip0.sock"
    says 'as sent'
done
