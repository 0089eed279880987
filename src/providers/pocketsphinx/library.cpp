#include "providers/pocketsphinx/library.hpp"

#include <sphinxbase/err.h>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace parley::providers::pocketsphinx {
namespace {

// NOLINTNEXTLINE(cert-dcl50-cpp,modernize-avoid-variadic-functions): the library's own signature.
void keep_complaint(void* /*user*/, err_lvl_t level, const char* format, ...) {
  if (level < ERR_ERROR) return;
  std::array<char, 256> text{};
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  if (length <= 0) return;
  std::string& complaint = last_complaint();
  complaint = text.data();
  while (!complaint.empty() && (complaint.back() == '\n' || complaint.back() == ' ')) complaint.pop_back();
}

}  // namespace

std::mutex& setup_mutex() {
  static std::mutex mutex;
  static const bool silenced = [] {
    err_set_callback(keep_complaint, nullptr);
    return true;
  }();
  static_cast<void>(silenced);
  // The library prints its configuration past the callback, to a stream that each thread has of its own.
  err_set_logfp(nullptr);
  return mutex;
}

std::string& last_complaint() {
  static thread_local std::string complaint;
  return complaint;
}

}  // namespace parley::providers::pocketsphinx
