# Script tests: real programs, links, limits; tests/local.mk initialises the variables.
