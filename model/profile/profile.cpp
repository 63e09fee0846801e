#include "model/profile/profile.hpp"

#include <cassert>
#include <cmath>
#include <utility>

#include "model/error.hpp"

namespace lanecast {

const ParameterInfo& info(Param parameter) { return parameter_table()[static_cast<std::size_t>(parameter)]; }

std::optional<Param> parameter_from_name(const std::string& name) {
  for (std::size_t i = 0; i < parameter_count; ++i) {
    if (parameter_table()[i].name == name) return static_cast<Param>(i);
  }
  return std::nullopt;
}

Profile::Profile() {
  for (std::size_t i = 0; i < parameter_count; ++i) values_[i] = parameter_table()[i].prior;
}

ParameterGroup group_of(Param parameter) {
  const std::string& name = info(parameter).name;
  const std::string head = name.substr(0, name.find('.'));
  if (head == "band") return ParameterGroup::band;
  if (parameter == Param::latency_nvlink) return ParameterGroup::gpu;
  for (const char* gpu : {"gpu", "simple", "ll", "ll128", "nvlink"}) {
    if (head == gpu) return ParameterGroup::gpu;
  }
  return ParameterGroup::link;
}

const std::string& Profile::origin(Param parameter) const {
  return from_prior(parameter) ? info(parameter).source : origins_[static_cast<std::size_t>(parameter)];
}

void Profile::set(Param parameter, double value, std::string origin) {
  const ParameterInfo& about = info(parameter);
  if (!std::isfinite(value) || value < about.low || value > about.high) {
    throw Error(ErrorKind::usage,
                "parameter `" + about.name + "` is " + std::to_string(value) + " " + about.unit,
                "profile `" + name + "`",
                "take a value from " + std::to_string(about.low) + " to " + std::to_string(about.high));
  }
  values_[static_cast<std::size_t>(parameter)] = value;
  set_[static_cast<std::size_t>(parameter)] = true;
  origins_[static_cast<std::size_t>(parameter)] = std::move(origin);
}

Seconds Profile::time(Param parameter) const {
  const std::string& unit = info(parameter).unit;
  assert(unit == "us" || unit == "ns");
  return Seconds(value(parameter) * (unit == "us" ? 1e-6 : 1e-9));
}

BytesPerSecond Profile::rate(Param parameter) const {
  assert(info(parameter).unit == "GB/s");
  return BytesPerSecond(value(parameter) * 1e9);
}

}  // namespace lanecast
