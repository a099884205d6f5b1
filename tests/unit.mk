# Unit tests, one per module; tests/local.mk initialises the variables.
