# Tests of the exported functions: api_*, race_*, die_*; tests/local.mk initialises the variables.
