# SPDX-License-Identifier: Apache-2.0
# The newcomer's commands. The build itself is CMake's (CMakePresets.json).
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
CTEST = ctest --output-on-failure --parallel $(JOBS)
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp')

# Left out: the networks A36 to A38, which are accuracy-networks, P41, on which published sources disagree, and four rows of a trace with two images (Q18, Q31, Q33, Q35), and A25 to A27, forward convolutions that the published release runs slower than its own gradients; all others must stay within 25 %.
ACCURACY_ROWS = A01,A02,A03,A04,A05,A06,A07,A08,A09,A10,A11,A12,A13,A14,A15,A16,A17,A18,A19,A20,A21,A22,A23,A24,A28,A29,A30,A31,A32,A33,A34,A39,A40,Q01,Q02,Q03,Q04,Q05,Q06,Q07,Q08,Q09,Q10,Q11,Q12,Q13,Q14,Q15,Q16,Q17,Q19,Q20,Q21,Q22,Q23,Q24,Q25,Q26,Q27,Q28,Q29,Q30,Q32,Q34,Q36,Q37,Q38,Q39,Q40,P01,P02,P03,P04,P05,P06,P07,P08,P09,P10,P11,P12,P13,P14,P15,P16,P17,P18,P19,P20,P21,P22,P23,P24,P25,P26,P27,P28,P29,P30,P31,P32,P33,P34,P35,P36,P37,P38,P39,P40,P42,G01,G02,H01,H02,H03,H04,H05,H06

.PHONY: help nightly roofline setup configure demo demo-pytorch demo-mindspore demo-mlu toolkit build build-asan test test-pytorch test-mindspore test-mlu test-onnxruntime bench accuracy accuracy-operators accuracy-networks ulp same threads tsan fuzz soak layouts mutate docs format clean

help:
	@echo "make demo    install what is missing, build, train a small network on the simulated chip"
	@echo "make demo-mindspore train a small ResNet with MindSpore on the simulated chip"
	@echo "make demo-mlu    train ResNet-18 with PyTorch and torch_mlu on a simulated MLU370"
	@echo "make demo-pytorch   train ResNet-18 with PyTorch and torch_npu on the simulated chip"
	@echo "make toolkit lay out libraries, headers and commands in build/toolkit, for PyTorch and other programs"
	@echo "make test    build with sanitizers, run the tests and checks (some minutes on two cores; docs/testing.md)"
	@echo "make nightly the same, and what it leaves out: tests of the tests, whole networks, all chips under sanitizers, PyTorch"
	@echo "make test-mindspore train small networks under the real MindSpore, compare with its CPU"
	@echo "make test-mlu   run the PyTorch scripts that fit on the device mlu of python/torch_mlu (minutes)"
	@echo "make test-onnxruntime run the cases of the onnx package under the real onnxruntime-cann"
	@echo "make test-pytorch   run all PyTorch scripts under the real torch_npu, the long ones too"
	@echo "make bench   measure speed: ratios against the host's own library, in one run"
	@echo "make accuracy   simulated times beside published ones; fails if a row leaves its bounds (minutes)"
	@echo "make accuracy-operators  the same of all published rows, and what to expect of each class of operator (minutes)"
	@echo "make accuracy-networks   the same of whole training steps under torch_npu (hours, 8 GB); goes on where it was ended"
	@echo "make roofline   every operator over sizes beside the bound of its bytes; writes docs/roofline.md (20 minutes)"
	@echo "make ulp     distances of exp, ln, roots and reciprocals from the truth, 10^8 samples (many minutes)"
	@echo "make same    the same bits and cycles from builds of gcc and of clang (builds twice)"
	@echo "make threads run the tests but the long ones with 1, 2 and 16 host threads; simulated times must be the same (many minutes)"
	@echo "make tsan    run the tests under the thread sanitizer"
	@echo "make mutate  put known faults into the source, one by one: the tests must notice"
	@echo "make fuzz    fuzz the parsers and queues, FUZZ_SECONDS=10 each"
	@echo "make layouts every operator on every layout, shape and type, against dense tensors: 400,000 cases, some minutes"
	@echo "make soak    kill ranks of collectives at random times: nothing may hang or stay behind"
	@echo "make docs    write the generated pages of docs/hw and isa/golden anew"
	@echo "make format  format the C sources"
	@echo "make clean   remove the build folders"

setup:
	@tools/setup.sh

configure: setup
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log

demo: configure
	@cmake --build build --parallel $(JOBS) --target leo-train-digits
	build/training/c/leo-train-digits

# The same idea under a framework: its own wheel from PyPI on the simulated chip (torch_mlu is ours).
demo-pytorch: venv = build/venv
demo-mindspore demo-mlu: venv = build/venv-$*
demo-pytorch demo-mindspore demo-mlu: demo-%: configure
	@cmake --build build --parallel $(JOBS) --target toolkit
	@tools/setup-$*.sh $(venv)
	@tools/demo-$*.sh build $(venv)

accuracy: configure
	@cmake --build build --parallel $(JOBS) --target leo
	build/tools/leo/leo accuracy tests/accuracy/published.csv --only $(ACCURACY_ROWS) --within 25
	build/tools/leo/leo accuracy tests/accuracy/published.csv --only A05,A08,A24,A31,A34 --runs 3
	python3 -B tools/accuracy/halves.py build/tools/leo/leo isa/soc tests/accuracy/published.csv

# All rows, for the table by class of docs/accuracy.md and leo report. Fails if a row does not run; how far off it is decides nothing.
accuracy-operators: configure
	@cmake --build build --parallel $(JOBS) --target leo
	build/tools/leo/leo accuracy tests/accuracy/published.csv tests/accuracy/operators.csv --classes tools/toolkit/report/expected.csv
	python3 -B tools/accuracy/classes_page.py tools/toolkit/report/expected.csv docs/accuracy.md

# Hours: steps of networks under the real torch_npu, and those of the workload network. The first part keeps its results in build/networks.
accuracy-networks: toolkit
	@cmake --build build --parallel $(JOBS) --target leo
	tools/setup-pytorch.sh build/venv
	python3 -B tests/networks/networks.py --toolkit build/toolkit --venv build/venv --page docs/accuracy.md
	build/tools/leo/leo accuracy tests/accuracy/published.csv --only A36,A37,A38 --within 25

roofline: configure
	@cmake --build build --parallel $(JOBS) --target op_sweep
	python3 -B tests/bench/roofline.py build --raw build/roofline.csv --page docs/roofline.md

ulp: configure
	@cmake --build build --parallel $(JOBS) --target ulp

# Both compilers, every host arithmetic, 1 to 16 host threads: one digest.
SAME_TARGETS = leo test_op_same_bits
same: setup
	cmake --preset release -B build-gcc -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
	cmake --preset release -B build-clang -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
	cmake --build build-gcc --parallel $(JOBS) --target $(SAME_TARGETS)
	cmake --build build-clang --parallel $(JOBS) --target $(SAME_TARGETS)
	python3 -B tests/system/same.py build-gcc/tools/leo/leo build-clang/tools/leo/leo
	@for b in build-gcc build-clang; do $$b/tests/unit/kernels/test_op_same_bits | grep -E 'digest|asserts' >$$b/digest; done
	@grep -h digest build-gcc/digest && cmp build-gcc/digest build-clang/digest && echo "make same: good"

build: setup
	cmake --preset release
	cmake --build build --parallel $(JOBS)

# The folder programs for the chip look for: build/toolkit/set_env.sh, or build/toolkit/cann/bin/leo exec -- COMMAND.
toolkit: setup
	cmake --preset release
	cmake --build build --parallel $(JOBS) --target toolkit

# Kernels do not depend on how the host's programs are built: those of build are taken.
build-asan: setup
	cmake --preset release
	cmake --preset debug -DLEO_DEVICE_FROM=$(CURDIR)/build
	cmake --build build-asan --parallel $(JOBS)

# Tests labelled release are too slow under sanitizers. Every part runs even if one before it failed. The release build needs no program
# of the tests that run under sanitizers. Scripts under PyTorch run where their environment is already (make test-pytorch, make test-mlu).
RELEASE_STAGE = $(addsuffix /all,isa sim driver runtime tools/cc kernels models training tools examples) toolkit leo_release_tests
FRAMEWORKS = $(if $(wildcard build/venv/bin/python),,pytorch) $(if $(wildcard build/venv-mlu/bin/python),,mlu)
LEFT_OUT = $(subst $() ,|,$(strip nightly bench $(FRAMEWORKS)))
test: setup
	cmake --preset release
	cmake --build build --parallel $(JOBS) --target $(RELEASE_STAGE)
	cmake --preset debug -DLEO_DEVICE_FROM=$(CURDIR)/build
	cmake --build build-asan --parallel $(JOBS)
	@status=0; \
	(cd build && $(CTEST) --label-regex '^(release|further_chip)$$' --label-exclude '^($(LEFT_OUT))$$') || status=1; \
	(cd build-asan && $(CTEST) --label-exclude '^(release|further_chip|nightly|bench)$$') || status=1; \
	echo "make test: left out $(subst |, ,$(LEFT_OUT)) and further chips under sanitizers (make nightly runs them)"; \
	if [ $$status -eq 0 ]; then echo "make test: good"; else echo "make test: FAILED"; fi; \
	exit $$status

# What make test leaves out, each even if one before it failed.
nightly: build build-asan
	@status=0; \
	$(MAKE) test || status=1; \
	(cd build && $(CTEST) --label-regex '^nightly$$' --no-tests=error) || status=1; \
	(cd build-asan && $(CTEST) --label-regex '^further_chip$$' --no-tests=error) || status=1; \
	$(MAKE) test-pytorch test-mlu || status=1; \
	if [ $$status -eq 0 ]; then echo "make nightly: good"; else echo "make nightly: FAILED"; fi; \
	exit $$status

# Everything under the real framework, the long parts too; its wheel is fetched once.
test-pytorch test-mindspore test-mlu test-onnxruntime: test-%: build
	cd build && $(CTEST) --label-regex '^$*$$' --no-tests=error

bench: build
	cd build && ctest --label-regex '^bench$$' --verbose --no-tests=error

# The tests without the label release with each number of host threads, and the times of rows that use many cores. Bits: tests/system/same.py.
THREADS ?= 1 2 16
THREADS_ROWS = A07,A10,A17,A24,A25,A28,A31,A35,A40,P39,Q10,Q24,Q39
threads: build
	@status=0; \
	for n in $(THREADS); do \
	    echo "make threads: LEO_THREADS=$$n"; \
	    (cd build && LEO_THREADS=$$n $(CTEST) --label-exclude '^(release|nightly|bench|pytorch|mindspore|onnxruntime|qemu)$$') || status=1; \
	    LEO_THREADS=$$n build/tools/leo/leo accuracy tests/accuracy/published.csv --only $(THREADS_ROWS) >build/threads-$$n.txt || status=1; \
	    cmp build/threads-$(firstword $(THREADS)).txt build/threads-$$n.txt || status=1; \
	done; \
	python3 -B tests/system/same.py build/tools/leo/leo || status=1; \
	if [ $$status -eq 0 ]; then echo "make threads: good"; else echo "make threads: FAILED"; fi; \
	exit $$status

tsan: setup
	cmake --preset release
	cmake --preset tsan -DLEO_DEVICE_FROM=$(CURDIR)/build
	cmake --build build-tsan --parallel $(JOBS)
	cd build-tsan && UCX_MEM_EVENTS=n TSAN_OPTIONS=die_after_fork=0:suppressions=$(CURDIR)/tests/tsan.supp $(CTEST) --label-exclude '^(release|nightly|bench|qemu)$$' --exclude-regex '^test_(cc|checks|setup)$$'

mutate: build
	python3 -B tests/mutate/mutate.py build

fuzz: setup
	cmake --preset fuzz
	cmake --build build-fuzz --parallel $(JOBS) --target fuzzers
	tests/fuzz/run.sh build-fuzz

layouts: setup
	cmake --build build -j$(JOBS) --target test_aclnn_layouts
	LEO_TEST_ALL=1 LEO_SOC=ascend910a build/tests/unit/aclnn/test_aclnn_layouts
	LEO_TEST_ALL=1 LEO_SOC=ascend910b1 build/tests/unit/aclnn/test_aclnn_layouts

SOAK_KILLS ?= 200
soak: setup
	cmake --preset release
	cmake --build build --parallel $(JOBS) --target hccl_member
	python3 -B tests/unit/hccl/soak.py build/tests/unit/hccl/hccl_member --kills $(SOAK_KILLS)

docs: setup
	cmake --preset release
	cmake --build build --target docs

format:
	@clang-format-19 -i $(SOURCES)

clean:
	rm -rf build build-asan build-tsan build-fuzz
