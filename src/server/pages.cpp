#include "server/pages.hpp"

#include "parley/server/front.hpp"

namespace parley::server {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string home_page(std::size_t devices, const std::string& host) {
  const auto address = "ws://" + escaped(host.empty() ? "this-host:8000" : host) + std::string(kDevicePath);
  return R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Parley</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 38em; margin: 4em auto; padding: 0 1em; color: #222; }
  code { background: #f2f2f2; padding: .1em .3em; border-radius: 3px; }
</style>
</head>
<body>
<h1>Parley</h1>
<p>A voice-assistant server for ESP32 devices, version )" PARLEY_VERSION R"(. Devices connected now: )" +
         std::to_string(devices) + R"(.</p>
<p>Point a device at <code>)" +
         address + R"(</code>, with the token that the server was given (or printed when it started).</p>
<ul>
<li><a href="/healthz">/healthz</a>: the process is alive</li>
<li><a href="/readyz">/readyz</a>: it takes new devices</li>
<li><a href="/metrics">/metrics</a>: figures for Prometheus</li>
</ul>
</body>
</html>
)";
}

}  // namespace parley::server
