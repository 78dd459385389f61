"""What authors and CI run: the environment, the notebooks, the site, the ledger."""

import sys

# nbformat imports jsonschema, which compiles a grammar of web addresses if this package is there: most of a
# second in each process, for a check that no notebook needs. None makes the import fail, and jsonschema goes on.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
