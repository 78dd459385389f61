# The commands of tools/run.py under their short names; `make` alone lists them.
# Another Python: make book PYTHON=python3.12. Words for the command: make notebooks ARGS=ecoc.
# A new chapter: make chapter NAME=margin. A variable NAME of the system counts for nothing.
PYTHON ?= python3
COMMANDS := book test check notebooks chapter measure handout lab serve bench upgrade clean

.DEFAULT_GOAL := help
.PHONY: help $(COMMANDS)
.NOTPARALLEL:

help $(COMMANDS):
	@command -v $(PYTHON) >/dev/null || { echo "The book needs Python 3.11, 3.12 or 3.13, and there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) tools/run.py $@ $(if $(filter chapter,$@),$(if $(filter command,$(firstword $(origin NAME))),$(NAME))) $(ARGS)
