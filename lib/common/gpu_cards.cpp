#include "common/gpu_cards.h"

#include <cstdio>
#include <map>

namespace precbench {
namespace {

// Cards outlive everything that points to them; their texts are the map's keys.
const GpuCard* any_card(std::string_view id) {
  static std::map<std::string, GpuCard, std::less<>> cards;
  const auto known = cards.find(id);
  if (known != cards.end()) return &known->second;
  int capability = 0;
  double bytes = 0;
  if (std::sscanf(std::string(id).c_str(), "sm_%d:%lf", &capability, &bytes) != 2) return nullptr;
  if (capability < 50 || capability > 999 || bytes < 1 << 20) return nullptr;
  GpuCard& card = cards[std::string(id)];
  card.id = card.name = cards.find(id)->first;
  card.compute_capability = capability;
  card.memory_gib = bytes / (1 << 30);
  return &card;
}

}  // namespace

const GpuCard* find_gpu_card(std::string_view id) {
  for (const GpuCard& card : kGpuCards) {
    if (card.id == id) return &card;
  }
  return any_card(id);
}

std::vector<std::string> gpu_card_ids() {
  std::vector<std::string> ids;
  for (const GpuCard& card : kGpuCards) ids.emplace_back(card.id);
  return ids;
}

}  // namespace precbench
