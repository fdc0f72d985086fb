// Stands in for the driver's libnvidia-ml.so.1 in tests. Two cards, which NVML numbers in another
// order than CUDA does:
//
//   NVML 0, CUDA 1   GPU-bbbb   00000000:AF:00.0   300 W
//   NVML 1, CUDA 0   GPU-aaaa   00000000:3B:00.0   70 W
//
// FAKE_NVML names what goes wrong, several separated by commas:
//   no_driver      initialising fails
//   no_permission  everything but the look-up of a card is denied
//   no_energy      no energy counter (before Volta)
//   throttling     from the third sample of a card to the fourth it is too hot
//   ecc            each sample counts one uncorrected error more
//   vgpu           the cards are virtual ones
//   mig            the cards are split into instances
//   hang           initialising never returns
//   hang_later     the third reading of power never returns
// FAKE_NVML_PIDS lists the processes on every card ("12,34").
// FAKE_NVML_USED is the memory in use, in MiB (512 without it).
// Compiled with FAKE_NVML_OLD it has the symbols of an old driver only.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kNotFound = 6,
              kInsufficientSize = 7, kDriverNotLoaded = 9;

constexpr int kArgumentVersionMismatch = 25;
constexpr unsigned long long kTotal = 16ULL << 30, kReserved = 300ULL << 20;

unsigned long long used_bytes() {
  const char* text = std::getenv("FAKE_NVML_USED");
  return (text != nullptr ? std::strtoull(text, nullptr, 10) : 512) << 20;
}

struct Card {
  const char* uuid;
  const char* pci;
  unsigned power_mw;
  unsigned long long energy_calls, reason_calls, power_calls, ecc_calls;
};
Card cards[] = {{"GPU-bbbb", "00000000:AF:00.0", 300000, 0, 0, 0, 0},
                {"GPU-aaaa", "00000000:3B:00.0", 70000, 0, 0, 0, 0}};

bool plays(const char* scenario) {
  const char* text = std::getenv("FAKE_NVML");
  const std::string list = "," + std::string(text != nullptr ? text : "") + ",";
  return list.find("," + std::string(scenario) + ",") != std::string::npos;
}

[[noreturn]] void hang() {
  while (true) pause();
}

Card& card(void* device) { return *static_cast<Card*>(device); }

template <typename Value, typename Given>
int answer(Value* value, Given given) {
  if (plays("no_permission")) return kNoPermission;
  *value = static_cast<Value>(given);
  return kSuccess;
}

}  // namespace

EXPORT int nvmlInit_v2() {
  if (plays("hang")) hang();
  if (plays("no_driver")) return kDriverNotLoaded;
  for (Card& card : cards)
    card.energy_calls = card.reason_calls = card.power_calls = card.ecc_calls = 0;
  return kSuccess;
}

EXPORT int nvmlShutdown() { return kSuccess; }

EXPORT const char* nvmlErrorString(int result) {
  switch (result) {
    case kNotSupported:
      return "Not Supported";
    case kNoPermission:
      return "Insufficient Permissions";
    case kNotFound:
      return "Not Found";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= 2) return kNotFound;
  *device = &cards[index];
  return kSuccess;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  for (Card& card : cards) {
    if (std::strcmp(card.uuid, uuid) == 0) {
      *device = &card;
      return kSuccess;
    }
  }
  return kNotFound;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  // As the driver: the domain may have four or eight digits, letters of either case.
  for (Card& card : cards) {
    if (strcasecmp(card.pci, id) == 0 || strcasecmp(card.pci + 4, id) == 0) {
      *device = &card;
      return kSuccess;
    }
  }
  return kNotFound;
}

EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (plays("hang_later") && ++card(device).power_calls == 3) hang();
  return answer(milliwatts, card(device).power_mw);
}

EXPORT int nvmlDeviceGetTemperature(void* /*device*/, int sensor, unsigned* celsius) {
  return sensor == 0 ? answer(celsius, 64) : kNotSupported;
}

EXPORT int nvmlDeviceGetClockInfo(void* /*device*/, int type, unsigned* megahertz) {
  if (type != 1 && type != 2) return kNotSupported;
  return answer(megahertz, type == 1 ? 1200 : 5000);
}

#ifndef FAKE_NVML_OLD
EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  if (plays("no_permission")) return kNoPermission;
  std::strncpy(version, "580.65.06", length);
  return kSuccess;
}

EXPORT int nvmlDeviceGetMaxClockInfo(void* /*device*/, int type, unsigned* megahertz) {
  return type == 1 ? answer(megahertz, 1590) : kNotSupported;
}

// One more second of the card's power with each call, from 1 kJ.
EXPORT int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (plays("no_energy")) return kNotSupported;
  return answer(millijoules, 1000000ULL + card(device).energy_calls++ * card(device).power_mw);
}

// Always at its power cap, as a T4 under load.
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  const unsigned long long call = ++card(device).reason_calls;
  const bool is_hot = plays("throttling") && (call == 3 || call == 4);
  return answer(reasons, is_hot ? 0x24 : 0x4);
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(void* /*device*/, void* memory) {
  struct Info {
    unsigned version;
    unsigned long long total, reserved, free, used;
  };
  Info* info = static_cast<Info*>(memory);
  if (info->version != (sizeof(Info) | (2U << 24U))) return kArgumentVersionMismatch;
  if (plays("no_permission")) return kNoPermission;
  *info = {info->version, kTotal, kReserved, kTotal - kReserved - used_bytes(), used_bytes()};
  return kSuccess;
}

EXPORT int nvmlDeviceGetEccMode(void* /*device*/, int* current, int* pending) {
  *pending = 1;
  return answer(current, 1);
}

EXPORT int nvmlDeviceGetVirtualizationMode(void* /*device*/, int* mode) {
  return answer(mode, plays("vgpu") ? 2 : 0);
}

EXPORT int nvmlDeviceGetMigMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *pending = 0;
  return answer(current, plays("mig") ? 1 : 0);
}

EXPORT int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter,
                                       unsigned long long* errors) {
  if (type != 1 || counter != 0) return kNotSupported;
  return answer(errors, plays("ecc") ? card(device).ecc_calls++ : 0);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, void* infos) {
  if (plays("no_permission")) return kNoPermission;
  struct Info {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
  };
  const char* text = std::getenv("FAKE_NVML_PIDS");
  unsigned found = 0;
  for (const char* at = text; at != nullptr && *at != '\0';) {
    char* end = nullptr;
    const unsigned long pid = std::strtoul(at, &end, 10);
    if (end == at) break;
    if (found < *count && infos != nullptr) {
      static_cast<Info*>(infos)[found] = {static_cast<unsigned>(pid), 0, 0xffffffff, 0xffffffff};
    }
    ++found;
    at = *end == ',' ? end + 1 : end;
  }
  const bool fits = found <= *count;
  *count = found;
  return fits ? kSuccess : kInsufficientSize;
}
#else
// Before driver 510 what the driver reserves is counted as used.
EXPORT int nvmlDeviceGetMemoryInfo(void* /*device*/, void* memory) {
  const unsigned long long used = used_bytes() + kReserved;
  const unsigned long long info[3] = {kTotal, kTotal - used, used};
  std::memcpy(memory, info, sizeof info);
  return kSuccess;
}

// The name before driver 535.
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/,
                                                     unsigned long long* reasons) {
  return answer(reasons, 0x4);
}
#endif
