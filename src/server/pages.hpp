#pragma once

#include <string>

namespace parley::server {

/// What a person sees who opens the server in a browser. `host`: the request's Host header, for the address
/// to copy.
std::string home_page(std::size_t devices, const std::string& host);

}  // namespace parley::server
