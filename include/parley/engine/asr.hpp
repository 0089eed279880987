#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/engine/stream.hpp"

namespace parley::engine {

/// Everything a person can say to the intents in force, for recognisers that work from a grammar.
struct SpeechGrammar {
  /// Equal ids are equal grammars: decoders are pooled and keyed by it.
  std::string id;
  /// A complete JSGF grammar (`#JSGF V1.0;` …) with one public rule; words in lower case.
  std::string jsgf;
  /// All words of the grammar, sorted, each once.
  std::vector<std::string> words;
  /// Pronunciations given in the configuration: word → ARPAbet phones ("HH AH L OW"), several allowed.
  std::map<std::string, std::vector<std::string>> pronunciations;
};

struct AsrRequest {
  std::string language = "en";
  /// Null where nothing is known of what may be said.
  std::shared_ptr<const SpeechGrammar> grammar;
};

struct AsrEvent {
  enum class Kind {
    partial,   ///< May still change.
    final,     ///< The one result of the utterance; empty text: nothing was understood.
    rejected,  ///< The one result: speech, but not what the recogniser was made for. `text`: its best guess.
  };
  Kind kind = Kind::final;
  std::string text;
  /// When the engine had it, by the steady clock; what comes after is Parley's own time.
  TimePoint ready_at{};
};

class AsrStream : public EventStream<AsrEvent> {
 public:
  /// 16 kHz mono, any length. Never blocks.
  virtual void push(audio::PcmView samples) = 0;
  /// The utterance is complete: a final or rejected event follows.
  virtual void finish() = 0;
};

/// What to ask a service for, as services name languages (`de` for `de-AT`): the configured language; where
/// that is empty, the device's; none for `auto`, which leaves it to the service.
std::string language_for_service(const std::string& configured, const std::string& device);

/// A transcript without the blanks around it.
std::string trimmed(const std::string& transcript);

/// Immutable and shared by all threads.
class AsrProvider {
 public:
  virtual ~AsrProvider() = default;
  /// A stream for one utterance; opened when speech begins. Audio may be pushed at once.
  virtual Task<Result<std::unique_ptr<AsrStream>>> open(AsrRequest request) = 0;
  /// Makes ready what open() would have to wait for. Called when a device begins to listen.
  virtual void warm_up(const AsrRequest& /*request*/) {}
  /// Opens the connections of this I/O thread that open() would have to wait for. Called when a device says
  /// hello and when it begins to listen.
  virtual void connect_ahead(const asio::any_io_executor& /*executor*/) {}
  /// Whether it can work with this grammar: it compiles, and every word has a pronunciation. The error is for
  /// a person. May block; for start-up and checks.
  virtual Result<> validate(const SpeechGrammar& /*grammar*/) { return {}; }
};

}  // namespace parley::engine
