#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/measured/measurement.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// Reads measured data. The format is told by the content (docs/measured-data.md): our `measure` as JSON or
/// JSON lines, CSV, nccl-tests as text or JSON, nvbandwidth as text or JSON, p2pBandwidthLatencyTest.
///
/// Bad rows that can be told from good ones (wrong results, 0 B, cut off at the end) are left out with a
/// warning LC-DATA-01; what had to be assumed is LC-DATA-02.
/// @param name  the file, as messages and `where` name it
/// @throws Error  kind usage, with all problems and their lines: a text of no such format or of two, no data,
///                rows that contradict themselves
MeasuredData read_measured(const std::string& text, const std::string& name);

/// The same from a file of at most 256 MiB; "-" is standard input.
MeasuredData read_measured_file(const std::filesystem::path& file);

/// All files as one. Sweeps get numbers of their own, and so do the sessions of each file: two files are two
/// sessions, whatever number both give.
MeasuredData merge_measured(std::vector<MeasuredData> files);

/// What a command line says about data that do not say it themselves. Absent: nothing.
struct MeasuredDefaults {
  std::optional<Collective> collective;
  std::optional<Datatype> datatype;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::optional<Transport> transport;
  std::optional<int> channels;
  std::optional<int> threads;
  std::optional<Bytes> buffsize;
  std::optional<Launch> launch;
  std::optional<int> iterations;
  std::optional<Registration> registration;
  std::optional<std::string> implementation;  // "nccl-2.28"
  std::optional<int> ranks;
  std::optional<int> session;
};

/// Fills in what each call leaves open; `auto` in a file leaves it open. Channels, threads and buffers of
/// NCCL become its variables (measured_settings.hpp).
/// @throws Error  kind usage: a flag that contradicts the data; names both, for all flags in one go
void apply(const MeasuredDefaults& defaults, MeasuredData& data);

}  // namespace lanecast
