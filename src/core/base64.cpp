#include "parley/core/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace parley {

std::string base64(std::string_view bytes) {
  // OpenSSL writes a zero after the text.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const auto length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string base64url(std::string_view bytes) {
  auto text = base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

}  // namespace parley
