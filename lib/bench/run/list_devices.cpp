#include "bench/run/list_devices.h"

#include <fmt/format.h>

#include "bench/files/standard_streams.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/worker_runner.h"
#include "common/printable.h"

namespace precbench {

int print_devices() {
  WorkerRunner runner(worker_command_from_environment(), nullptr);
  const DeviceChoice choice = choose_device(Plan{}, runner);
  const auto devices = choice.worker_facts.find("devices");
  for (const json& device : devices == choice.worker_facts.end() ? json::array() : *devices) {
    const std::string kind = device.value("kind", "?");
    const std::string name = kind == "cpu" ? choice.facts.cpu.model : device.value("name", "?");
    write_stdout(fmt::format("{:<10} {}\n", printable(device.value("id", kind)), printable(name)));
  }
  for (const std::string& note : choice.notes) write_stdout(note + "\n");
  return 0;
}

}  // namespace precbench
