# demo.mk: make demo: from a fresh machine to the first counts.

# One step behind the other, whatever -j says: what is installed first decides how to build.
demo:
	@$(MAKE) --no-print-directory deps-build
	@echo "building quipu ..."
	@$(MAKE) --no-print-directory -s all
	@scripts/demo $B

.PHONY: demo
