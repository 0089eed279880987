"""What a device needs of libopus, by ctypes, and something like a voice to encode."""

import array
import ctypes
import math

_opus = ctypes.CDLL("libopus.so.0")
_opus.opus_encoder_create.restype = ctypes.c_void_p
_opus.opus_decoder_create.restype = ctypes.c_void_p
_opus.opus_encode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int32]
_opus.opus_decode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int,
                              ctypes.c_int]
_opus.opus_encoder_destroy.argtypes = [ctypes.c_void_p]
_opus.opus_decoder_destroy.argtypes = [ctypes.c_void_p]
_VOIP = 2048
_LONGEST_MS = 120


def encode(samples, rate=16000, frame_ms=60):
    """Packets of `frame_ms` of 16-bit mono samples; a rest shorter than a frame is left out."""
    encoder = _opus.opus_encoder_create(rate, 1, _VOIP, None)
    size = rate * frame_ms // 1000
    out = ctypes.create_string_buffer(4000)
    packets = []
    for at in range(0, len(samples) - size + 1, size):
        length = _opus.opus_encode(encoder, samples[at:at + size].tobytes(), size, out, len(out))
        if length < 0:
            raise ValueError(f"libopus: {length}")
        packets.append(out.raw[:length])
    _opus.opus_encoder_destroy(encoder)
    return packets


class Decoder:
    def __init__(self, rate=24000):
        self.rate = rate
        self.state = _opus.opus_decoder_create(rate, 1, None)
        self.out = ctypes.create_string_buffer(2 * rate * _LONGEST_MS // 1000)

    def __del__(self):
        _opus.opus_decoder_destroy(self.state)

    def decode(self, packet):
        """The samples of one packet."""
        count = _opus.opus_decode(self.state, packet, len(packet), self.out, len(self.out) // 2, 0)
        if count < 0:
            raise ValueError(f"libopus: {count}")
        samples = array.array("h")
        samples.frombytes(self.out.raw[:2 * count])
        return samples


def loudness(samples):
    """The root mean square."""
    return math.sqrt(sum(sample * sample for sample in samples) / max(1, len(samples)))


def vowels(seconds, rate=16000):
    """A buzzing voice that glides between two vowels: enough for a detector of voice."""
    samples = array.array("h")
    phase = 0.0
    for i in range(int(rate * seconds)):
        pitch = 120 + 15 * math.sin(6 * math.pi * i / rate)
        phase += 2 * math.pi * pitch / rate
        wide = 0.5 + 0.5 * math.sin(8 * math.pi * i / rate)  # how far the mouth is open
        formants = ((300 + 400 * wide, 150, 1), (2200 - 1000 * wide, 200, 0.5), (2600, 250, 0.2))
        value = 0.0
        for harmonic in range(1, 26):
            strength = sum(gain * math.exp(-((harmonic * pitch - at) / width) ** 2) for at, width, gain in formants)
            value += (strength + 0.02) * math.sin(harmonic * phase)
        samples.append(max(-32767, min(32767, round(4000 * (0.4 + 0.6 * wide) * value))))
    return samples
