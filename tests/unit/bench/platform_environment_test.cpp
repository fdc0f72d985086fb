#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/platform/environment.h"
#include "common/errors.h"
#include "platform_devices.h"

namespace precbench::platform_environment_test {
namespace {

OsFacts debian() { return {"Debian GNU/Linux 12 (bookworm)", "6.1.0", 16777216000, 0.5, {}}; }

json facts_of_a_t4() {
  return {{"libtorch", {{"version", "2.11.0"}, {"cuda_built", "13.0"}}},
          {"cpu", {{"capability", "AVX2"}, {"threads", 2}}},
          {"devices",
           {{{"kind", "cpu"}, {"name", "Xeon"}, {"compute_capability", nullptr}},
            {{"kind", "cuda"},
             {"name", "Tesla T4"},
             {"compute_capability", "7.5"},
             {"memory_bytes", 15637086208},
             {"architectures", {"sm_75", "sm_80", "sm_90a", "compute_120", "gfx90"}},
             {"driver", "580.65"},
             {"cuda", "13.0"},
             {"cudnn", nullptr},
             {"uuid", "GPU-1"},
             {"multiprocessors", 40},
             {"ecc", nullptr},
             {"unknown", {{"ecc", "not told"}}}}}}};
}

// Every null has a reason, and every reason a null.
void expect_explained(const json& object, const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    if (key == "unknown") {
      for (const auto& [name, reason] : value.items()) {
        EXPECT_TRUE(object.contains(name) && object[name].is_null()) << path << "." << name;
        EXPECT_TRUE(reason.is_string() && !reason.get<std::string>().empty());
      }
    } else if (value.is_null()) {
      EXPECT_TRUE(object["unknown"].contains(key)) << path << "." << key;
    } else if (value.is_object()) {
      expect_explained(value, path + "." + key);
    }
  }
}

TEST(DeviceFacts, ComeFromADescribeJob) {
  CpuFacts cpu;
  cpu.model = "Xeon";
  const DeviceFacts t4 = device_facts_from(facts_of_a_t4(), "cuda:0", cpu);
  EXPECT_EQ(t4.kind, "cuda");
  EXPECT_EQ(t4.name, "Tesla T4");
  EXPECT_EQ(t4.compute_capability, 75);
  EXPECT_EQ(t4.memory_bytes, 15637086208);
  EXPECT_EQ(t4.binary_architectures, (std::vector<int>{75, 80, 90}));
  EXPECT_EQ(t4.portable_architectures, (std::vector<int>{120}));
  EXPECT_EQ(t4.libtorch_version, "2.11.0");
  EXPECT_EQ(t4.cpu.model, "Xeon");
  EXPECT_EQ(device_facts_from(facts_of_a_t4(), "cpu", cpu).compute_capability, 0);
  EXPECT_THROW(device_facts_from(facts_of_a_t4(), "simulated:t4", cpu), DeviceError);
}

TEST(DeviceFacts, WriteComputeCapabilitiesAsPeopleDo) {
  EXPECT_EQ(compute_capability_text(75), "7.5");
  EXPECT_EQ(compute_capability_text(120), "12.0");
  EXPECT_EQ(compute_capability_text(0), "");
  EXPECT_EQ(compute_capability_number("12.0"), 120);
  EXPECT_EQ(compute_capability_number("75"), 0);
  EXPECT_EQ(compute_capability_number("7.x"), 0);
  EXPECT_EQ(compute_capability_number("7.15"), 0);
}

TEST(Environment, KeepsWhatTheWorkerKnowsOfAGpu) {
  const CpuFacts cpu = testing::cpu("Xeon", "x86_64", {"avx2"}).cpu;
  const json worker = facts_of_a_t4();
  const json environment =
      environment_json(device_facts_from(worker, "cuda:0", cpu), cpu, 2, worker, debian());
  EXPECT_EQ(environment["device"]["name"], "Tesla T4");
  EXPECT_EQ(environment["device"]["compute_capability"], "7.5");
  EXPECT_EQ(environment["device"]["multiprocessors"], 40);
  EXPECT_EQ(environment["driver"], "580.65");
  EXPECT_EQ(environment["cuda"], "13.0");
  EXPECT_EQ(environment["unknown"]["cudnn"], "the worker did not tell it");
  EXPECT_EQ(environment["device"]["unknown"]["ecc"], "not told");
  EXPECT_EQ(environment["libtorch"], "2.11.0");
  EXPECT_EQ(environment["cpu"]["threads"], 2);
  EXPECT_EQ(environment["cpu"]["capability"], "AVX2");
  EXPECT_EQ(environment["memory_bytes"], 16777216000);
  expect_explained(environment, "environment");
}

TEST(Environment, HashesTheUuid) {
  const json worker = facts_of_a_t4();
  const json device =
      environment_json(device_facts_from(worker, "cuda:0", {}), {}, 2, worker, debian())["device"];
  EXPECT_FALSE(device.contains("uuid"));
  // printf GPU-1 | sha256sum | cut -c 1-16
  EXPECT_EQ(device["uuid_sha256"], "9207b013e156f37c");
}

TEST(Environment, SaysOfACpuRunThatThereIsNoGpu) {
  const CpuFacts cpu = testing::cpu("AMD EPYC", "x86_64", {"avx2"}).cpu;
  const json worker = {{"devices", {{{"kind", "cpu"}, {"name", "AMD EPYC"}}}}};
  const json environment =
      environment_json(device_facts_from(worker, "cpu", cpu), cpu, 1, worker, debian());
  EXPECT_TRUE(environment["driver"].is_null());
  EXPECT_EQ(environment["unknown"]["driver"], "no GPU is used");
  EXPECT_TRUE(environment["device"]["compute_capability"].is_null());
  EXPECT_EQ(environment["device"]["unknown"]["compute_capability"], "a CPU has none");
  EXPECT_EQ(environment["cpu"]["flags"], json({"avx2"}));
  expect_explained(environment, "environment");
}

TEST(Environment, ExplainsEveryNullWhenNothingIsKnown) {
  const json environment = environment_json(DeviceFacts{}, CpuFacts{}, 1, json(), OsFacts{});
  EXPECT_TRUE(environment["cpu"]["flags"].is_null());
  EXPECT_TRUE(environment["os"].is_null());
  expect_explained(environment, "environment");
}

}  // namespace
}  // namespace precbench::platform_environment_test
