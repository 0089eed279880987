// The ways to a server: certificates and proxies.
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstdlib>

#include "net/http_client_fixture.hpp"

namespace parley::net {
namespace {

/// A certificate for 127.0.0.1 that nobody vouches for.
void certify(asio::ssl::context& context) {
  EVP_PKEY* const key = EVP_RSA_gen(2048);
  X509* const certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  auto* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("127.0.0.1"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  EXPECT_EQ(SSL_CTX_use_certificate(context.native_handle(), certificate), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.native_handle(), key), 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST_F(HttpClientTest, TrustsNoCertificateThatNobodyVouchesFor) {
  ::setenv("no_proxy", "127.0.0.1", 1);
  asio::ssl::context context(asio::ssl::context::tls_server);
  certify(context);
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::size_t read_bytes = 0;
  const auto serve = [&]() -> Task<> {
    asio::ssl::stream<asio::ip::tcp::socket> stream(co_await acceptor.async_accept(asio::use_awaitable),
                                                    context);
    boost::system::error_code failed;
    co_await stream.async_handshake(asio::ssl::stream_base::server,
                                    asio::redirect_error(asio::use_awaitable, failed));
    std::string buffer(1000, '\0');
    if (!failed) {
      read_bytes = co_await stream.async_read_some(asio::buffer(buffer),
                                                   asio::redirect_error(asio::use_awaitable, failed));
    }
  };
  asio::co_spawn(io, serve(), asio::detached);
  auto request = get("https://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) + "/x");
  request.headers = {{"Authorization", "Bearer secret"}};
  const auto answer = ask(request);
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, Errc::unavailable);
  EXPECT_FALSE(answer.error->retryable);
  EXPECT_NE(answer.error->message.find("cannot be trusted"), std::string::npos) << answer.error->message;
  test::run_until_quiet(io);
  EXPECT_EQ(read_bytes, 0U) << "and nothing was told to it";
}

/// An environment variable, while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(HttpClientTest, HonoursProxies) {
  HttpServer proxy(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.method == "CONNECT") {
      co_await exchange.respond(407, "text/plain", "no", "X-Of-The-Proxy: 1\r\n");
      exchange.close();
    } else {
      co_await exchange.respond(200, "text/plain", "by proxy");
    }
  });
  const Variable plain("http_proxy", proxy.url());
  const Variable secure("https_proxy", proxy.url());
  EXPECT_EQ(ask(get("http://parley.invalid/x")).body, "by proxy");
  EXPECT_EQ(proxy.asked().at(0).target, "http://parley.invalid/x");
  const auto refused = ask(get("https://parley.invalid/x"));
  EXPECT_EQ(proxy.asked().at(1).method + " " + proxy.asked().at(1).target, "CONNECT parley.invalid:443");
  ASSERT_TRUE(refused.error) << "its refusal is no answer of the server";
  EXPECT_TRUE(refused.body.empty());
}

}  // namespace
}  // namespace parley::net
