"""What authors and CI run: the environment, the notebooks, the site, the ledger."""
