# deps.mk: make deps installs what is missing of Debian's packages, and asks apt for nothing else.
#
# DEPS_BUILD is what building and the demo need, the others what the tests need on top.  Names with
# '|' between differ by release.

DEPS_BUILD = gcc binutils make libc6-dev libzydis-dev libzycore-dev libdw-dev libelf-dev libzstd-dev \
	zlib1g-dev libiberty-dev
DEPS_CHECK = g++ gfortran gdc gnat 'clang-14|clang' lld mold 'binutils-gold|binutils' gdb 'lldb-14|lldb' valgrind lcov gcovr diff-cover ccache distcc git libxml2-utils python3 csmith \
	libcsmith-dev clang-format clang-tidy cppcheck shellcheck file xz-utils dpkg-dev tcl-dev bison flex \
	texinfo autoconf man-db mandoc protobuf-compiler debootstrap dwz libffi-dev libssl-dev libsqlite3-dev \
	libbz2-dev liblzma-dev systemtap-sdt-dev parallel
DEPS_BENCH = 'clang-14|clang' 'libclang-rt-14-dev|libclang-rt-dev' 'llvm-14|llvm' valgrind python3 dpkg-dev tcl

deps-build:
	@scripts/install-packages $(DEPS_BUILD)
deps:
	@scripts/install-packages $(DEPS_BUILD) $(DEPS_CHECK) $(DEPS_BENCH)

.PHONY: deps deps-build
