#include "parley/net/address.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace parley::net {
namespace {

namespace ip = boost::asio::ip;

struct Range {
  std::uint32_t first;
  int bits;
};

constexpr std::array<Range, 15> kReserved = {{
    {0x00000000, 8},   // this network
    {0x0A000000, 8},   // private
    {0x64400000, 10},  // shared by a provider's customers
    {0x7F000000, 8},   // loopback
    {0xA9FE0000, 16},  // link-local
    {0xAC100000, 12},  // private
    {0xC0000000, 24},  // protocol assignments
    {0xC0000200, 24},  // documentation
    {0xC0586300, 24},  // 6to4 relays
    {0xC0A80000, 16},  // private
    {0xC6120000, 15},  // benchmarks
    {0xC6336400, 24},  // documentation
    {0xCB007100, 24},  // documentation
    {0xE0000000, 4},   // multicast
    {0xF0000000, 4},   // reserved, broadcast
}};

bool is_public_v4(std::uint32_t address) {
  return std::ranges::none_of(kReserved, [&](const Range& range) {
    return (address >> (32 - range.bits)) == (range.first >> (32 - range.bits));
  });
}

std::uint32_t v4_at(const ip::address_v6::bytes_type& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at]) << 24U | static_cast<std::uint32_t>(bytes[at + 1]) << 16U |
         static_cast<std::uint32_t>(bytes[at + 2]) << 8U | bytes[at + 3];
}

}  // namespace

bool is_public(const ip::address& address) {
  if (address.is_v4()) return is_public_v4(address.to_v4().to_uint());
  const auto bytes = address.to_v6().to_bytes();
  if (address.to_v6().is_v4_mapped()) return is_public_v4(v4_at(bytes, 12));
  // NAT64 (RFC 6052, its well-known prefix) and 6to4 (RFC 3056) lead to the IPv4 address inside.
  constexpr std::array<unsigned char, 12> kNat64 = {0x00, 0x64, 0xFF, 0x9B};
  if (std::ranges::equal(kNat64, std::span(bytes).first(kNat64.size())))
    return is_public_v4(v4_at(bytes, 12));
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public_v4(v4_at(bytes, 2));
  const bool protocols = bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02;  // 2001::/23, with Teredo
  const bool documentation = (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8) ||
                             (bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10);  // 3fff::/20
  return (bytes[0] & 0xE0U) == 0x20 && !protocols && !documentation;  // 2000::/3 is all that is given out
}

}  // namespace parley::net
