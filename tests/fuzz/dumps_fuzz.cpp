#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "configs/dumps/import.hpp"
#include "configs/machine_reader.hpp"
#include "configs/machine_writer.hpp"
#include "model/error.hpp"

/// Any text: a machine that check_machine accepts and that its own file gives back, or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lanecast;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const ImportedMachine imported = import_dumps({{"box.txt", text}}, std::nullopt, "box");
    const std::string written = write_machine(imported.machine);
    if (write_machine(read_machine_text(written, "written.yaml")) != written) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) std::abort();
  }
  return 0;
}
