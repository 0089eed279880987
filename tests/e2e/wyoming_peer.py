"""A Wyoming server for the tests, on the reference implementation: a recogniser that always hears the same, or a voice
that hums. Says its port, then each event that it gets, as lines on its standard output."""

import argparse
import array
import asyncio
import json
import math

from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.info import AsrModel, AsrProgram, Attribution, Describe, Info, TtsProgram, TtsVoice
from wyoming.server import AsyncEventHandler, AsyncTcpServer
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped

HEARD = "Turn on the lamp."
RATE = 22050
CHUNK = 1024


def tone(seconds):
    return array.array("h", (round(8000 * math.sin(i * 440 * 2 * math.pi / RATE))
                             for i in range(round(RATE * seconds)))).tobytes()


def artifact(name):
    return {"name": name, "attribution": Attribution(name="tests", url="http://localhost"), "installed": True,
            "description": name, "version": "1"}


class Recogniser(AsyncEventHandler):
    """Like faster-whisper: one utterance, then the connection is closed."""

    def __init__(self, options, *args):
        super().__init__(*args)
        self.options = options
        self.audio = b""

    def info(self):
        return Info(asr=[AsrProgram(**artifact("recogniser"), supports_transcript_streaming=self.options.streaming,
                                    models=[AsrModel(**artifact("fixed"), languages=["en"])])])

    async def handle_event(self, event):
        if AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (16000, 2, 1)
            if self.options.streaming and not self.audio:
                await self.write_event(TranscriptStart(language="en").event())
                await self.write_event(TranscriptChunk(text="Turn on").event())
            self.audio += chunk.audio
            return True
        say(event, seconds=len(self.audio) / 32000)
        if Describe.is_type(event.type):
            await self.write_event(self.info().event())
        if Transcribe.is_type(event.type) and Transcribe.from_event(event).language != "en":
            await self.write_event(Error(text="only English is understood").event())
            return False
        if not AudioStop.is_type(event.type):
            return True
        if self.options.streaming:
            await self.write_event(TranscriptChunk(text=" the lamp.").event())
        await self.write_event(Transcript(text=HEARD, language="en").event())
        if self.options.streaming:
            await self.write_event(TranscriptStop().event())
        return False


class Voice(AsyncEventHandler):
    """Like Piper: many texts on one connection, sentence by sentence, in both ways."""

    def __init__(self, options, *args):
        super().__init__(*args)
        self.options = options
        self.streamed = None

    def info(self):
        return Info(tts=[TtsProgram(**artifact("voice"), supports_synthesize_streaming=self.options.streaming,
                                    voices=[TtsVoice(**artifact("hum"), languages=["en"])])])

    async def handle_event(self, event):
        say(event)
        if Describe.is_type(event.type):
            await self.write_event(self.info().event())
        elif Synthesize.is_type(event.type) and self.streamed is None:
            synthesize = Synthesize.from_event(event)
            if synthesize.voice and synthesize.voice.name != "hum":
                await self.write_event(Error(text="there is no such voice").event())
                return False
            await self.speak([synthesize.text] if self.options.whole else sentences(synthesize.text))
        elif SynthesizeStart.is_type(event.type) and self.options.streaming:
            self.streamed = ""
        elif SynthesizeChunk.is_type(event.type) and self.streamed is not None:
            self.streamed += SynthesizeChunk.from_event(event).text
        elif SynthesizeStop.is_type(event.type) and self.streamed is not None:
            for sentence in sentences(self.streamed):
                await self.speak([sentence])
            self.streamed = None
            await self.write_event(SynthesizeStopped().event())
        return True

    async def speak(self, texts):
        """One group of audio."""
        for first, text in zip([True] + [False] * len(texts), texts):
            await asyncio.sleep(self.options.delay / 1000 * len(sentences(text)))
            audio = tone(0.02 * len(text))
            if first:
                await self.write_event(AudioStart(rate=RATE, width=2, channels=1).event())
            for at in range(0, len(audio), 2 * CHUNK):
                chunk = AudioChunk(rate=RATE, width=2, channels=1, audio=audio[at:at + 2 * CHUNK])
                await self.write_event(chunk.event())
        await self.write_event(AudioStop().event())


def sentences(text):
    return [part.strip() + "." for part in text.split(".") if part.strip()]


def say(event, **more):
    print(json.dumps({"type": event.type, **event.data, **more}), flush=True)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["asr", "tts"])
    parser.add_argument("--streaming", action="store_true")
    parser.add_argument("--whole", action="store_true", help="plain requests are spoken when all of it is made")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds that each sentence takes to be made")
    options = parser.parse_args()
    handler = Recogniser if options.role == "asr" else Voice
    server = AsyncTcpServer("127.0.0.1", 0)
    await server.start(lambda *streams: handler(options, *streams))
    print(server._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
