#!/usr/bin/python3
"""A voice that hums for as long as its text is."""

import array
import math
import sys
import wave

RATE = 16000
length = len(sys.stdin.readline()) * RATE // 20
samples = array.array("h", (round(8000 * math.sin(i * 440 * 2 * math.pi / RATE)) for i in range(length)))
if sys.argv[1] == "pcm":
    sys.stdout.buffer.write(samples.tobytes())
else:
    with wave.open(sys.stdout.buffer, "wb") as wav:
        wav.setparams((1, 2, RATE, length, "NONE", ""))
        wav.writeframes(samples.tobytes())
