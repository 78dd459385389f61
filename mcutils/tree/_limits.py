"""Limits of the search. All but the last are as in mcutils.jit.tree, which loads the compiler."""

TIE = 1e-10  # decreases are equal that differ by less, relative to the weight of the node
MOST = 2**62  # of any count
DEEPEST = 10  # most levels of looking ahead: the trees tried grow like a tower of powers
LEVELS = 20  # most levels of which all subsets are searched

# The key of an item holds its number, its class and the rank of its value, in 24, 16 and 23 bits.
ITEMS, CLASSES = 2**24, 2**16

# Of a sparse matrix, this many entries become a dense one: a gigabyte.
ENTRIES = 2**27

# Whole weights up to this sum are compared as whole numbers.
EXACT = 2**21
