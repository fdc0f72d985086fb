#include "common/event.h"

#include <utility>

#include "common/fields_json.h"
#include "common/limits.h"

namespace precbench {
namespace {

// `type` of the variant's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kTypes = {
    "hello", "phase", "steps", "epoch", "result", "failed"};

template <size_t... kIndex>
std::optional<Event> event_of_type(std::string_view type, const ObjectReader& reader,
                                   std::index_sequence<kIndex...> /*all*/) {
  std::optional<Event> event;
  const auto read_if = [&]<size_t kOne>(std::integral_constant<size_t, kOne> /*index*/) {
    if (kTypes[kOne] == type) event = record_from<std::variant_alternative_t<kOne, Event>>(reader);
  };
  (read_if(std::integral_constant<size_t, kIndex>()), ...);
  return event;
}

// At a character's first byte: what is kept is UTF-8 again.
void cut(std::string& text, size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
}

}  // namespace

json to_json(const Event& event) {
  json document = std::visit([](const auto& one) { return json_of(one); }, event);
  document["type"] = kTypes[event.index()];
  return document;
}

Event event_from_json(const json& document) {
  const ObjectReader reader(document, "");
  const auto type = reader.required<std::string>("type");
  auto event = event_of_type(type, reader, std::make_index_sequence<kTypes.size()>());
  if (!event) reader.fail("type", "'" + type + "' is not an event");
  // Both are shown in a line; more than that would fill the memory.
  if (auto* phase = std::get_if<PhaseEvent>(&*event)) {
    cut(phase->name, limits::kPhaseBytes);
  }
  if (auto* failed = std::get_if<FailedEvent>(&*event)) {
    cut(failed->message, limits::kMessageBytes);
  }
  return *std::move(event);
}

}  // namespace precbench
