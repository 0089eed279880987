#pragma once

#include <boost/asio/ip/address.hpp>

namespace parley::net {

/// Whether an address is one of the public internet: not loopback, private, link-local, shared, multicast or
/// reserved (RFC 6890), also where an IPv6 address carries such an IPv4 one.
bool is_public(const boost::asio::ip::address& address);

}  // namespace parley::net
