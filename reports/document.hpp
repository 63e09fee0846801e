#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/predict/algorithm.hpp"
#include "model/predict/prediction.hpp"

namespace lanecast {

/// What made a document: the head of every JSON document and the first comments of a table.
struct RunInfo {
  std::string version;
  std::string commit;
  std::string command;        // the whole line, quoted so that a shell takes it back
  std::string host;           // name of the computer that ran it
  std::string config_digest;  // of the machine in force, `--set` included; may be empty
};

/// Version of the JSON documents. A changed or removed key makes a new one; added keys do not.
inline constexpr int document_format = 1;

/// An ordered object that begins with "lanecast", "format" and "command".
nlohmann::ordered_json document_head(const RunInfo& run);

/// `[{"code", "text"}]`
nlohmann::ordered_json warnings_as_json(const std::vector<Warning>& warnings);

/// A number rounded to nine significant digits (beyond that a double only shows noise); null for inf and nan.
nlohmann::ordered_json number_or_null(double value);

/// The algorithm's own name where `family_of` is another; else null.
nlohmann::ordered_json variant_or_null(Algorithm algorithm);

/// The document with a line end. Bytes that are no UTF-8 (a file's name may hold them) become U+FFFD.
std::string document_text(const nlohmann::ordered_json& document);

}  // namespace lanecast
