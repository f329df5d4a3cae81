# bench.mk: what instrumentation costs; bench/run tells more.  bench/mix tells what the Dhrystone does.
#   make bench        everything, in one run (about an hour on a quiet machine), and bench/backwards
#   make bench-quick  a first impression
#   make bench-doc    puts the last run's tables into doc/benchmarks.md
bench: all
	QUIPU_BUILD=$(abspath $B) bench/run
	QUIPU_BUILD=$(abspath $B) bench/backwards
bench-quick: all
	QUIPU_BUILD=$(abspath $B) bench/run --quick
bench-doc:
	QUIPU_BUILD=$(abspath $B) bench/run --from $B/bench/results.json --update doc/benchmarks.md
.PHONY: bench bench-quick bench-doc
