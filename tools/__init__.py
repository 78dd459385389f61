"""What authors and CI run: the environment, the notebooks, the site, the ledger."""

import sys

# nbformat imports jsonschema, which compiles a grammar of web addresses if this package is there: most of a
# second in each process, for a check that no notebook needs. With None the import fails, and that is all.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
