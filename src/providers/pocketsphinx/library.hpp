#pragma once

#include <mutex>
#include <string>

namespace parley::providers::pocketsphinx {

/// Held while decoders are made and grammars compiled: that part of pocketsphinx is not known to be
/// thread-safe. The first caller also takes pocketsphinx's messages off standard error.
std::mutex& setup_mutex();

/// What pocketsphinx complained about last on this thread; cleared by who wants to know.
std::string& last_complaint();

}  // namespace parley::providers::pocketsphinx
