# test.mk: make check (under 15 minutes on two processors), make check-full (the long tests too).
#
# Both install what is missing first.  TESTS=NAMES picks tests.

ORACLES = $B/test/step $B/test/query $B/test/contexts $B/test/ticks $B/test/arrived \
	$B/test/watched $B/test/registers $B/test/stepped

$B/test/%: test/oracle/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -o $@ $(filter %.c,$^)

$B/test/watched: $(addprefix test/oracle/watched_,symbols.c symbols.h memory.c memory.h)

# What the tests use, built; one step behind the other, whatever -j says.
check-build:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory all $(ORACLES)

check: check-build
	QUIPU_BUILD=$B test/run $(TESTS)
check-full: check-build
	QUIPU_BUILD=$B QUIPU_VISITS=20 QUIPU_STEPS=225000 test/run --full $(TESTS)

.PHONY: check-build check check-full
