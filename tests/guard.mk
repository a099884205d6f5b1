# Tests that hold the built library's code to its figures: scripts, x86-64 only but for the last.
ink_guards = tests/guard_instructions.sh tests/disasm_cursor.sh tests/disasm_calloc.sh tests/shared_operations.sh
TESTS += $(ink_guards)
EXTRA_DIST += $(ink_guards)

# What goes back to the system, by the scenes of bench/work_memory.
TESTS += tests/memory_given_back.sh
EXTRA_DIST += tests/memory_given_back.sh

# The instrument, bench/compare and its report.
TESTS += tests/instrument.sh
EXTRA_DIST += tests/instrument.sh
