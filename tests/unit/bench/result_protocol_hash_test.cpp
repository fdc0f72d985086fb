// The hash that makes two results comparable, against Python's json and hashlib.
#include <gtest/gtest.h>

#include "bench/result/protocol_hash.h"

namespace precbench::result_protocol_hash_test {
namespace {

// Python: hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
TEST(CanonicalJson, IsPythons) {
  const json value = {
      {"lr", 0.05},      {"eps", 1e-8},           {"small", 1e-4},
      {"tiny", 1.5e-5},  {"big", 1e15},           {"huge", 1e16},
      {"n", 3},          {"neg", -0.0},           {"text", "\u00e9\u007f\"\\\n\U0001F600"},
      {"none", nullptr}, {"flag", true},          {"list", {0.9, 0.999}},
      {"one", 1.0},      {"obj", json::object()}, {"nested", {{"b", 1}, {"a", json::array()}}}};
  EXPECT_EQ(canonical_json(value),
            R"({"big":1000000000000000.0,"eps":1e-08,"flag":true,"huge":1e+16,"list":[0.9,0.999],)"
            R"("lr":0.05,"n":3,"neg":-0.0,"nested":{"a":[],"b":1},"none":null,"obj":{},"one":1.0,)"
            R"("small":0.0001,"text":"\u00e9\u007f\"\\\n\ud83d\ude00","tiny":1.5e-05})");
  EXPECT_EQ(protocol_hash(value),
            "2527df4b33b5d7e3b6b9a0735e126d0e1f0503a623c3c004eb8663f21c93deca");
}

// nlohmann::json's own writer gives 807416942443709.3 for the first.
TEST(CanonicalJson, WritesTheFewestDigitsThatReadBack) {
  EXPECT_EQ(canonical_json(8.074169424437092e+14), "807416942443709.2");
  EXPECT_EQ(canonical_json(6.96556018009989e+16), "6.96556018009989e+16");
  EXPECT_EQ(canonical_json(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(canonical_json(123456789012345680.0), "1.2345678901234568e+17");
}

TEST(ProtocolHash, LeavesTheHashItselfOut) {
  json value = {{"a", 1}};
  const std::string before = protocol_hash(value);
  value["hash"] = before;
  EXPECT_EQ(protocol_hash(value), before);
}

}  // namespace
}  // namespace precbench::result_protocol_hash_test
