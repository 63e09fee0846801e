// Any text is a machine or an Error; a machine is sound, and reads back from what it is written as.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "configs/explain.hpp"
#include "configs/machine_reader.hpp"
#include "configs/machine_writer.hpp"
#include "model/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  lanecast::MachineDocument document;
  try {
    document = lanecast::read_machine_document_text(text, "fuzz.yaml");
  } catch (const lanecast::Error&) {
    return 0;
  }
  if (!lanecast::check_machine(document.machine).empty()) std::abort();
  lanecast::explain(document);
  const std::string written = lanecast::write_machine(document.machine);
  if (lanecast::write_machine(lanecast::read_machine_text(written, "again.yaml")) != written) std::abort();
  return 0;
}
