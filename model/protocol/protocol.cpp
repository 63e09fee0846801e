#include "model/protocol/protocol.hpp"

namespace lanecast {

const char* to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return "simple";
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
  }
  return "?";
}

std::optional<Protocol> protocol_from_string(const std::string& text) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    if (text == to_string(protocol)) return protocol;
  }
  return std::nullopt;
}

ProtocolTraits protocol_traits(Protocol protocol) {
  ProtocolTraits traits;
  switch (protocol) {
    case Protocol::simple:
      traits.steps_per_chunk = 4;
      traits.steps_per_slice = 2;
      traits.default_buffsize = Bytes(4u << 20);
      traits.grain = Bytes(512);
      break;
    case Protocol::ll:
      traits.default_buffsize = Bytes(512u << 10);
      traits.wire_per_payload = 2.0;
      traits.flag_in_line = true;
      break;
    case Protocol::ll128:
      traits.default_buffsize = Bytes(4'915'200);
      traits.wire_per_payload = 128.0 / 120.0;
      traits.grain = Bytes(1920);
      traits.max_threads = 640;
      traits.flag_in_line = true;
      break;
  }
  return traits;
}

}  // namespace lanecast
