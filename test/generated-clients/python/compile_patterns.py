"""Prints one line for each pattern: 1 or 0 for each sample, or the reason why the pattern does not compile."""
import base64
import re
import sys

patterns, samples = ([base64.b64decode(word).decode() for word in line.split()] for line in open(sys.argv[1]))
for pattern in patterns:
    try:
        compiled = re.compile(pattern, re.ASCII)
        print("".join("1" if compiled.search(sample) else "0" for sample in samples))
    except re.error as error:
        print(error)
