"""Compares what two drivers drew: in each of two folders a file of RGBA bytes for each case, named like it.

A case is its name, the largest difference of a channel, and how many pixels may differ by more: those on edges, which drivers may
give to either side. A fourth number says how many colours a picture has at least, two if there is none.
"""

import os


def compare(cases, first, second):
    """Prints a line a case; whether all of them agree."""
    good = True
    for case, most, edges, *least in cases:
        one, other = (open(os.path.join(folder, case), "rb").read() for folder in (first, second))
        if len(one) != len(other):
            print(f"FAIL {case}: {len(one)} and {len(other)} bytes")
            good = False
            continue
        differences = [
            max(abs(one[at + part] - other[at + part]) for part in range(4)) for at in range(0, len(one), 4)
        ]
        off = sum(difference > most for difference in differences)
        drawn = len({one[at : at + 4] for at in range(0, len(one), 4)})
        agree = off <= edges and drawn >= (least[0] if least else 2)
        good &= agree
        print(f"{'ok' if agree else 'FAIL'} {case}: {off} pixels differ by more than {most}, {drawn} colours")
    return good
