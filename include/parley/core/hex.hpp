#pragma once

#include <span>
#include <string>
#include <string_view>

namespace parley {

/// Two lower-case digits a byte.
std::string to_hex(std::span<const unsigned char> bytes);

/// The SHA-256 of `text`, as 64 digits.
std::string sha256_hex(std::string_view text);

/// `count` bytes that nobody can guess. Throws Failure where the system has none to give.
std::string random_hex(std::size_t count);

}  // namespace parley
