#include "parley/core/hex.hpp"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
#include <vector>

#include "parley/core/error.hpp"

namespace parley {

std::string to_hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return to_hex(digest);
}

std::string random_hex(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Failure(Error(Errc::internal, "the system has no random numbers"));
  }
  return to_hex(bytes);
}

}  // namespace parley
