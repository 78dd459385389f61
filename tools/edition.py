"""The form of the second edition, and the chapters that wait for it."""

# Chapters that have not been cast into the form yet. The list only becomes shorter.
waiting = frozenset(
    """
    background binary boosting bound capacity classes consistency dual ecoc frontier hinge kernel
    margin perceptron pruning rademacher reduction representer risk softmax solver subgradient tree
    """.split()  # noqa: SIM905 - 24 names are better read so
)
