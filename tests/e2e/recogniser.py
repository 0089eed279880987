#!/usr/bin/python3
"""A recogniser that always hears the same, if it was given speech."""

import array
import io
import sys
import wave

with wave.open(io.BytesIO(sys.stdin.buffer.read())) as wav:
    assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (16000, 1, 2)
    samples = array.array("h", wav.readframes(wav.getnframes()))
assert sys.argv[1] == "en"
print("turn on the lamp" if max(samples, default=0) > 500 else "")
