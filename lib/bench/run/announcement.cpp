#include "bench/run/announcement.h"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/plan/hazards.h"
#include "bench/plan/schedule.h"
#include "bench/platform/verdict.h"
#include "bench/report/heading.h"
#include "bench/run/gemm_choice.h"
#include "common/printable.h"

namespace precbench {

void decide_support(const Plan& plan, const DeviceChoice& device, Recording& recording) {
  for (const PlannedRow& planned : rows_of(plan)) {
    const std::string name = planned.name();
    ModeRecord& row = recording.mode(name);
    row.support = verdict(*planned.mode, device.facts);
    if (row.support->verdict == SupportLevel::unsupported) {
      recording.set_status(name, Status::unsupported, row.support->why);
    } else if (row.support->verdict == SupportLevel::emulated &&
               plan.emulated == EmulatedModes::skip) {
      recording.set_status(name, Status::skipped, "emulated here (--emulated skip)");
    } else if (row.support->verdict != SupportLevel::native && plan.native_modes_only) {
      recording.set_status(name, Status::skipped, "not native here (--modes native)");
    }
  }
}

void announce(const Plan& plan, const DeviceChoice& device, const ResultDocument& document,
              const std::vector<std::string>& attention_notes, Console& console) {
  console.info(machine_line(document));
  console.info(plan.title);
  for (const std::string& note : device.notes) console.info(note);
  if (const std::string note = gemm_note(plan); !note.empty()) console.info(note);
  for (const std::string& note : attention_notes) console.info(note);
  const char* omp = std::getenv("OMP_NUM_THREADS");
  const bool is_chosen = plan.config.at("threads").at("source") != "default";
  if (omp != nullptr && *omp != '\0' && !is_chosen && omp != std::to_string(plan.threads)) {
    console.info(fmt::format("OMP_NUM_THREADS={} is not read: {} threads; --threads sets them", omp,
                             plan.threads));
  }
  const char* tf32 = std::getenv("NVIDIA_TF32_OVERRIDE");
  for (const std::string& hazard :
       hazards(plan, device.is_cuda(), printable(tf32 == nullptr ? "" : tf32))) {
    console.warning(hazard);
  }
}

}  // namespace precbench
