#include "mcp/oauth/client_assertion.hpp"

#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "parley/core/base64.hpp"
#include "parley/core/hex.hpp"

namespace parley::mcp::oauth {
namespace {

constexpr std::int64_t kLifetime = 300;  // seconds

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

Key key_of(const std::string& pem) {
  const Bio source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // Never asks for a passphrase.
  const auto nothing = [](char*, int, int, void*) { return 0; };
  return Key(source ? PEM_read_bio_PrivateKey(source.get(), nullptr, nothing, nullptr) : nullptr);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string signature_of(EVP_PKEY* key, std::string_view text) {
  const Digest digest(EVP_MD_CTX_new());
  std::size_t length = 0;
  if (!digest || EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &length, bytes_of(text), text.size()) != 1)
    return {};
  std::string signature(length, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                     bytes_of(text), text.size()) != 1)
    return {};
  signature.resize(length);
  return signature;
}

/// JWS wants both numbers one after the other (RFC 7518, 3.4), OpenSSL gives ASN.1.
std::string plain_ecdsa(const std::string& asn1) {
  constexpr int kBytes = 32;
  const auto* from = bytes_of(asn1);
  const Signature signature(d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(asn1.size())));
  std::string plain(std::size_t{2} * kBytes, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(plain.data());
  if (!signature || BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), to, kBytes) != kBytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), to + kBytes, kBytes) != kBytes)
    return {};
  return plain;
}

}  // namespace

Result<std::string> client_assertion(const std::string& private_key, const std::string& client_id,
                                     const std::string& audience, std::int64_t now) {
  const auto key = key_of(private_key);
  const bool rsa = key && EVP_PKEY_is_a(key.get(), "RSA") == 1;
  const bool p256 = key && EVP_PKEY_is_a(key.get(), "EC") == 1 && EVP_PKEY_get_bits(key.get()) == 256;
  if (!rsa && !p256) {
    return Error(Errc::configuration,
                 "the private key is no PEM with an RSA key or one on the curve P-256, without a passphrase");
  }
  const nlohmann::json header{{"alg", rsa ? "RS256" : "ES256"}, {"typ", "JWT"}};
  const nlohmann::json claims{{"iss", client_id},      {"sub", client_id}, {"aud", audience},
                              {"jti", random_hex(16)}, {"iat", now},       {"exp", now + kLifetime}};
  const auto signed_text = base64url(header.dump()) + "." + base64url(claims.dump());
  auto signature = signature_of(key.get(), signed_text);
  if (p256 && !signature.empty()) signature = plain_ecdsa(signature);
  if (signature.empty()) return Error(Errc::configuration, "the private key cannot sign");
  return signed_text + "." + base64url(signature);
}

}  // namespace parley::mcp::oauth
