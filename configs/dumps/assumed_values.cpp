#include "configs/dumps/assumed_values.hpp"

#include <cctype>
#include <vector>

namespace lanecast {
namespace {

/// Words that stand in a name one after another; one that ends in `*` may go on.
struct GpuRow {
  const char* words;
  int sm;
  PcieRate rate;
  int nvlinks;
  double nvlink_GBps;
  int l2_MiB;  // 0: not known
};

constexpr PcieRate gen3 = PcieRate::gen3, gen4 = PcieRate::gen4, gen5 = PcieRate::gen5, gen6 = PcieRate::gen6;

constexpr GpuRow gpu_rows[] = {
    {"P100", 60, gen3, 4, 20, 4},
    {"P40", 61, gen3, 0, 0, 3},
    {"V100*", 70, gen3, 6, 25.781, 6},
    {"TITAN V", 70, gen3, 0, 0, 0},
    {"T4", 75, gen3, 0, 0, 4},
    {"RTX 20*", 75, gen3, 2, 25.781, 0},
    {"TITAN RTX", 75, gen3, 2, 25.781, 6},
    {"Quadro RTX", 75, gen3, 2, 25.781, 0},
    {"GTX 16*", 75, gen3, 0, 0, 0},
    {"A100*", 80, gen4, 12, 25, 40},
    {"A800", 80, gen4, 8, 25, 40},
    {"A30", 80, gen4, 4, 25, 24},
    {"A10", 86, gen4, 0, 0, 6},
    {"A10G", 86, gen4, 0, 0, 6},
    {"A16", 86, gen4, 0, 0, 0},
    {"A2", 86, gen4, 0, 0, 0},
    {"A40", 86, gen4, 4, 14.062, 6},
    {"A6000", 86, gen4, 4, 14.062, 6},
    {"A5500", 86, gen4, 4, 14.062, 6},
    {"A5000", 86, gen4, 4, 14.062, 6},
    {"A4500", 86, gen4, 4, 14.062, 6},
    {"A4000", 86, gen4, 0, 0, 4},
    {"RTX 3090", 86, gen4, 4, 14.062, 6},
    {"RTX 30*", 86, gen4, 0, 0, 0},
    {"L40S", 89, gen4, 0, 0, 96},
    {"L40", 89, gen4, 0, 0, 96},
    {"L4", 89, gen4, 0, 0, 48},
    {"RTX 4090", 89, gen4, 0, 0, 72},
    {"RTX 40*", 89, gen4, 0, 0, 0},
    {"RTX 6000 Ada", 89, gen4, 0, 0, 96},
    {"Ada", 89, gen4, 0, 0, 0},
    {"H100*", 90, gen5, 18, 26.562, 50},
    {"H200*", 90, gen5, 18, 26.562, 50},
    {"GH200*", 90, gen5, 18, 26.562, 50},
    {"H800*", 90, gen5, 8, 26.562, 50},
    {"H20", 90, gen5, 18, 26.562, 60},
    {"B100", 100, gen5, 18, 50, 126},
    {"B200", 100, gen5, 18, 50, 126},
    {"GB200", 100, gen5, 18, 50, 126},
    {"B300", 103, gen6, 18, 50, 126},
    {"GB300", 103, gen6, 18, 50, 126},
    {"RTX PRO 6000", 120, gen5, 0, 0, 128},
    {"RTX PRO", 120, gen5, 0, 0, 0},
    {"RTX 5090", 120, gen5, 0, 0, 96},
    {"RTX 50*", 120, gen5, 0, 0, 0},
    {"MI50", 0, gen4, 0, 25, 4},
    {"MI60", 0, gen4, 0, 25, 4},
    {"MI100", 0, gen4, 0, 25, 8},
    {"MI200", 0, gen4, 0, 50, 8},
    {"MI210", 0, gen4, 0, 50, 8},
    {"MI250*", 0, gen4, 0, 50, 8},
    {"MI300*", 0, gen5, 0, 64, 0},
    {"MI325*", 0, gen5, 0, 64, 0},
    {"MI350*", 0, gen5, 0, 64, 0},
    {"MI355*", 0, gen5, 0, 64, 0},
};

std::vector<std::string> words_of(const std::string& text, bool keep_stars = false) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || (keep_stars && c == '*')) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool word_fits(const std::string& word, const std::string& wanted) {
  if (wanted.back() != '*') return word == wanted;
  return word.compare(0, wanted.size() - 1, wanted, 0, wanted.size() - 1) == 0;
}

bool has_words(const std::vector<std::string>& words, const std::string& wanted_text) {
  const std::vector<std::string> wanted = words_of(wanted_text, true);
  for (std::size_t i = 0; i + wanted.size() <= words.size(); ++i) {
    std::size_t fitting = 0;
    while (fitting < wanted.size() && word_fits(words[i + fitting], wanted[fitting])) ++fitting;
    if (fitting == wanted.size()) return true;
  }
  return false;
}

const GpuRow* row_of(const std::string& model) {
  const std::vector<std::string> words = words_of(model);
  for (const GpuRow& row : gpu_rows) {
    if (has_words(words, row.words)) return &row;
  }
  return nullptr;
}

struct AdapterRow {
  const char* words;
  double rate_Gbps;
  PcieRate link;
};

constexpr AdapterRow adapter_rows[] = {
    {"ConnectX 3*", 56, gen3}, {"MT27500", 56, gen3},         {"ConnectX 4", 100, gen3},
    {"MT27700", 100, gen3},    {"MT27710", 25, gen3},         {"ConnectX 5", 100, gen3},
    {"MT27800", 100, gen3},    {"ConnectX 6", 200, gen4},     {"MT28908", 200, gen4},
    {"MT2892", 100, gen4},     {"ConnectX 7", 400, gen5},     {"MT2910", 400, gen5},
    {"ConnectX 8", 800, gen6}, {"BlueField 2", 100, gen4},    {"BlueField 3", 400, gen5},
    {"E810*", 100, gen4},      {"X710*", 10, gen3},           {"XL710", 40, gen3},
    {"X550*", 10, gen3},       {"X540*", 10, gen3},           {"I350", 1, gen3},
    {"I210", 1, gen3},         {"Elastic Fabric", 100, gen3},
};

struct HostRow {
  const char* vendor;
  int family;
  int first_model;
  int last_model;
  double memory_GBps;
  double socket_GBps;
  const char* rule;
};

constexpr int any_model = 0xffff;

constexpr HostRow host_rows[] = {
    {"amd", 0x17, 0x00, 0x0f, 120, 20, "Naples: eight channels of DDR4-2666 at about 70 %"},
    {"amd", 0x17, 0x10, any_model, 140, 20, "Rome: eight channels of DDR4-3200 at about 70 %"},
    {"amd", 0x19, 0x00, 0x0f, 140, 20, "Milan: eight channels of DDR4-3200 at about 70 %"},
    {"amd", 0x19, 0x18, 0x18, 260, 39, "Threadripper 7000: eight channels of DDR5-5200 at about 80 %"},
    {"amd", 0x19, 0x30, 0x3f, 140, 20, "Trento: eight channels of DDR4-3200 at about 70 %"},
    {"amd", 0x19, 0x10, any_model, 370, 39, "Genoa: twelve channels of DDR5-4800 at about 80 %"},
    {"amd", 0x1a, 0x08, 0x08, 325, 50, "Threadripper 9000: eight channels of DDR5-6400 at about 80 %"},
    {"amd", 0x1a, 0x00, any_model, 460, 50, "Turin: twelve channels of DDR5-6000 at about 80 %"},
    {"intel", 6, 0x00, 0x4f, 55, 15, "Xeon before Skylake: four channels of DDR4-2133 at about 80 %"},
    {"intel", 6, 0x55, 0x55, 100, 17, "Skylake, Cascade Lake: six channels of DDR4-2666 at about 80 %"},
    {"intel", 6, 0x6a, 0x6c, 140, 22, "Ice Lake: eight channels of DDR4-3200 at about 70 %"},
    {"intel", 6, 0x8f, 0x8f, 245, 30, "Sapphire Rapids: eight channels of DDR5-4800 at about 80 %"},
    {"intel", 6, 0xcf, 0xcf, 245, 30, "Emerald Rapids: eight channels of DDR5-4800 at about 80 %"},
    {"intel", 6, 0xad, 0xaf, 490, 40, "Xeon 6: twelve channels of DDR5-6400 at about 80 %"},
};

BytesPerSecond GBps(double rate) { return BytesPerSecond(rate * 1e9); }

}  // namespace

std::optional<GpuFamily> gpu_family(const std::string& model) {
  const GpuRow* row = row_of(model);
  if (row == nullptr) return std::nullopt;
  GpuFamily family{row->sm, row->rate, row->nvlinks, GBps(row->nvlink_GBps), std::nullopt};
  if (row->l2_MiB > 0) family.l2 = Bytes(static_cast<std::uint64_t>(row->l2_MiB) << 20);
  return family;
}

AssumedValue<PcieRate> assumed_gpu_rate(const std::string& model, int sm) {
  if (const GpuRow* row = row_of(model))
    return {row->rate, std::string("as all cards of the family `") + row->words + "`"};
  const std::string rule = "by compute capability " + std::to_string(sm / 10) + "." + std::to_string(sm % 10);
  if (sm >= 90) return {gen5, rule};
  if (sm >= 80) return {gen4, rule};
  if (sm >= 60) return {gen3, rule};
  return {gen4, "as most servers"};
}

AssumedValue<BytesPerSecond> assumed_nvlink_rate(const std::string& model, int sm) {
  const GpuRow* row = row_of(model);
  if (row != nullptr && row->nvlink_GBps > 0)
    return {GBps(row->nvlink_GBps), std::string("as all cards of the family `") + row->words + "`"};
  const std::string rule = "by compute capability " + std::to_string(sm / 10) + "." + std::to_string(sm % 10);
  if (sm >= 100) return {GBps(50), rule};
  if (sm >= 90) return {GBps(26.562), rule};
  if (sm == 86) return {GBps(14.062), rule};
  if (sm >= 70) return {GBps(25), rule};
  return {GBps(25), "as most NVLinks"};
}

std::optional<int> nvlinks_of_gpu(const std::string& model, int sm) {
  const GpuRow* row = row_of(model);
  if (row != nullptr) return row->nvlinks > 0 ? std::optional(row->nvlinks) : std::nullopt;
  if (sm >= 90 && sm < 120) return 18;
  if (sm == 80) return 12;
  if (sm == 86) return 4;
  return sm == 70 ? std::optional(6) : std::nullopt;
}

AdapterFamily assumed_adapter(const std::string& name) {
  const std::vector<std::string> words = words_of(name);
  for (const AdapterRow& row : adapter_rows) {
    if (has_words(words, row.words))
      return {GBps(row.rate_Gbps / 8), row.link,
              std::string("as most adapters of the family `") + row.words + "`"};
  }
  return {GBps(100.0 / 8), gen4, "100 Gbit/s and Gen4, as many adapters beside GPUs"};
}

HostRates assumed_host_rates(const std::string& vendor, const std::optional<CpuId>& id) {
  for (const HostRow& row : host_rows) {
    if (id && vendor == row.vendor && id->family == row.family && id->model >= row.first_model &&
        id->model <= row.last_model)
      return {GBps(row.memory_GBps), GBps(row.socket_GBps), row.rule};
  }
  if (vendor == "intel") return {GBps(140), GBps(22), "a Xeon of unknown generation: as Ice Lake"};
  if (vendor == "amd") return {GBps(140), GBps(20), "an EPYC of unknown generation: as Rome and Milan"};
  return {GBps(140), GBps(20), "an unknown processor: as EPYC Rome and Milan"};
}

}  // namespace lanecast
