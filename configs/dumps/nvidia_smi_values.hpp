#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// What nvidia-smi tells about a GPU or its machine, whatever the format: text, XML, CSV or table.
enum class SmiItem {
  // of the machine
  driver,
  timestamp,       // "Mon Mar 11 10:20:30 2024" or "2024/03/11 10:20:30.123"
  virtualization,  // "None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"
  // of one GPU
  model,
  device_id,  // "0x20B010DE": device, then vendor
  link_max_generation,
  link_generation,
  device_max_generation,
  host_max_generation,
  link_max_width,  // "16x", "16"
  link_width,
  replays,
  memory,  // "81559 MiB"
  bar1,
  performance_state,   // "P8"
  compute_capability,  // "8.0"
};

/// One value as it was printed.
struct SmiValue {
  std::string_view text;
  std::string from;
  bool may_be_cut = false;  // the text ends right behind it: "1" may be the begin of "16"
};

/// Adds a value to the facts, unless it says that there is none: "N/A", "[Not Supported]", "ERR!", "Requested
/// functionality has been deprecated", an impossible number. "GPU is lost" marks the GPU as gone.
///
/// Performance states: P0 to P3 work (NVIDIA: "maximum" and "balanced 3D performance"), P4 and above idle,
/// with slower links. Times carry no zone and are kept without one: "2024-03-11T10:20:30".
/// @param address  of the GPU, which `SmiGpus` has admitted; "" where unknown: only what concerns the machine
/// is
///                 taken
void add_smi_value(SmiItem item, const SmiValue& value, const std::string& address, MachineFacts& facts);

/// The same for a GPU that nvidia-smi numbers. @param index  nothing is added where it is negative or above
/// 127
void add_smi_index(int index, const std::string& from, const std::string& address, MachineFacts& facts);

/// The model of a GPU whose address is unknown. @param index  0 to 127
void add_smi_model(int index, std::string_view model, const std::string& from, MachineFacts& facts);

/// Most GPUs of one text, and most different values of one thing: beyond, a text is no dump of a machine.
constexpr std::size_t most_gpus = 128;
constexpr std::size_t most_values = 64;

/// The GPUs that one text describes, in its order.
class SmiGpus {
 public:
  /// Marks the device as one of NVIDIA's. False: it is one too many, and nothing may be added to it.
  bool admit(const std::string& address, const std::string& from, MachineFacts& facts);

  /// Addresses, with the place that first names each.
  const std::vector<Statement<std::string>>& all() const { return all_; }

  /// Numbers the GPUs in the order of the text, which is nvidia-smi's own, where it shows all that are
  /// attached.
  void number(int attached, MachineFacts& facts) const;

  /// Adds a note where GPUs were left out.
  void note_excess(const std::string& file, MachineFacts& facts) const;

 private:
  std::vector<Statement<std::string>> all_;
  std::set<std::string> seen_;
  bool excess_ = false;
};

/// Whether a text is a value, not one of the words for "there is none".
bool is_smi_value(std::string_view text);

}  // namespace lanecast
